"""Expression language of descriptions: parser, expression trees, derivatives and step limits."""
