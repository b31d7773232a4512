"""Reading what omc prints; the texts are a real omc's (1.28-dev), their paths shortened."""

from __future__ import annotations

import pytest

from gpmelica.fmu.backends.openmodelica.answers import (
    Answer,
    Message,
    logged_messages,
    of_script,
    script_messages,
    session_messages,
    unquoted,
)

CHECKED = (
    "Check of Crane completed successfully.\nClass Crane has 961 equation(s) and 961 variable(s).\n"
    "367 of these are trivial equation(s)."
)
SCOPE = "Variable z not found in scope Bad."


def test_values() -> None:
    """A value over several lines, before it those of repeated statements, after it no message."""
    assert of_script(f'true\ntrue\n"{CHECKED}"\n""\n', 2) == Answer(CHECKED)


def test_values_with_a_message() -> None:
    """The last value is the messages, here one with its place."""
    output = f'true\n""\n"[DIR/Bad.mo:5:3-5:18:writable] Error: {SCOPE}\n"\n'
    assert of_script(output, 1) == Answer("", (Message("error", SCOPE, "DIR/Bad.mo", 5),))


@pytest.mark.parametrize("quote", ['"', '\\"'], ids=["1.26", "1.28"])
def test_quotes_inside(quote: str) -> None:
    """Quotes in a message, escaped or not as the version has it, do not end it, even at the end of a line."""
    warning = f"Warning: call setCommandLineOptions({quote}-d=initialization{quote})."
    output = f'true\n"{warning}\nError: see {quote}x{quote}\nthere\n"\n'
    answer = of_script(output, 0)
    assert answer is not None
    assert answer.value == "true"
    assert answer.messages == (
        Message("warning", 'call setCommandLineOptions("-d=initialization").'),
        Message("error", 'see "x"\nthere'),
    )


@pytest.mark.parametrize("output", ["", "true\n", 'true\n"half a str'])
def test_truncated_output_is_rejected(output: str) -> None:
    """Truncated output of omc is not an answer."""
    assert of_script(output, 1) is None


def test_levels_and_places() -> None:
    """Messages with and without place, of all levels, over several lines, and with a drive letter in the path."""
    text = (
        "[C:/a b/Bad3.mo:3:1-3:1:writable] Error: Missing token: SEMICOLON\n"
        "Error: Too few equations, under-determined system. The model has 1 equation(s) and 2 variable(s).\n"
        "[DIR/Crane.mo:7:2-7:9:readonly] Warning: Variable y does not have any remaining equation\n"
        "  to be solved in.\n"
        "Notification: Building FMU for platform 'static' (1/1).\n"
    )
    assert script_messages(text) == (
        Message("error", "Missing token: SEMICOLON", "C:/a b/Bad3.mo", 3),
        Message(
            "error", "Too few equations, under-determined system. The model has 1 equation(s) and 2 variable(s)."
        ),
        Message(
            "warning", "Variable y does not have any remaining equation\n  to be solved in.", "DIR/Crane.mo", 7
        ),
        Message("notification", "Building FMU for platform 'static' (1/1)."),
    )
    assert Answer("", script_messages(text)).errors == script_messages(text)[:2]


def test_exception_of_a_session() -> None:
    """OMPython's exceptions hold the compiler's messages in another form."""
    text = (
        "OMC error occurred for 'sendExpression(expr=checkModel(Bad), parsed=False):\n"
        f"00: [translation:error:5] [DIR/Bad.mo:true:5:3:5:18] {SCOPE}\n"
        "01: [scripting:warning:7] [:false:0:0:0:0] second line\nfollows"
    )
    assert session_messages(text) == (
        Message("error", SCOPE, "DIR/Bad.mo", 5),
        Message("warning", "second line\nfollows"),
    )


def test_log_of_a_session() -> None:
    """Messages that OMPython only logs are read, and OMPython's own log lines are no messages of omc."""
    text = f"[OMC log for 'sendExpression(expr=checkModel(Bad), parsed=False)']: [translation:warning:5] {SCOPE}"
    assert logged_messages(text) == (Message("warning", SCOPE),)
    assert logged_messages("Result of 'getErrorString()' cannot be parsed!") == ()


@pytest.mark.parametrize(
    ("printed", "value"), [('"a \\"b\\" \\\\c"\n', 'a "b" \\c'), ("true\n", "true"), ('""\n', ""), ('"', '"')]
)
def test_unquoted(printed: str, value: str) -> None:
    """Quotes and escapes go, everything else stays."""
    assert unquoted(printed) == value
