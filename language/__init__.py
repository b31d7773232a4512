"""The expression language of descriptions: text, trees, derivatives."""
