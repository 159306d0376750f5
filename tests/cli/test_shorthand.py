"""The shorthand of the AWS command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait.cli.aws.shorthand import ShorthandError, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name=x", {"Name": "x"}),
        ("Name=x,Values=a", {"Name": "x", "Values": "a"}),
        ("Name=tag:Name,Values=a,b", {"Name": "tag:Name", "Values": ["a", "b"]}),
        ("Values=a,b,Name=x", {"Values": ["a", "b"], "Name": "x"}),
        (" Name = x , Values = a b , c ", {"Name": "x", "Values": ["a b", "c"]}),
        ("Name=x,\n  Values=a", {"Name": "x", "Values": "a"}),
        ("A=,B=c", {"A": "", "B": "c"}),
        ("A=,b", {"A": ["", "b"]}),
        ("A=b=c", {"A": "b=c"}),
        (r"A=a\,b", {"A": "a,b"}),
        (r"A=C:\dir", {"A": r"C:\dir"}),
        ("A='a,b=c'", {"A": "a,b=c"}),
        ("A=\"a b\",'c'", {"A": ["a b", "c"]}),
        (r"A='it\'s \\ \n'", {"A": r"it's \ \n"}),
        (r'A="say \"x\" it\'s"', {"A": r'say "x" it\'s'}),
        ("A=[]", {"A": []}),
        ("A=[b]", {"A": ["b"]}),
        ("A=[b, 'c,d', e=f,]", {"A": ["b", "c,d", "e=f"]}),
        ("A=[b,c],D=e", {"A": ["b", "c"], "D": "e"}),
        ("A={}", {"A": {}}),
        ("A={b=c,d=[e,f],g={h=i}}", {"A": {"b": "c", "d": ["e", "f"], "g": {"h": "i"}}}),
        ("A=[{Id=1},{Id=2}]", {"A": [{"Id": "1"}, {"Id": "2"}]}),
        ("tag:a/b#c.d-e_f=x", {"tag:a/b#c.d-e_f": "x"}),
        ("A=\u00e9\U0001f600", {"A": "\u00e9\U0001f600"}),
    ],
)
def test_shorthand_is_read_as_aws_reads_it(text, expected):
    """Pairs, lists of words, brackets and braces, quotes and escaped commas."""
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "problem", "position"),
    [
        ("", "expected a name before '='", 0),
        ("Name", "expected '=' after 'Name'", 4),
        ("Name x", "expected '=' after 'Name'", 5),
        ("=x", "expected a name before '='", 0),
        ("A=b,", "expected a value", 4),
        ("A=b,,c", "expected a value", 4),
        ("A=b]", "expected ',' or the end", 3),
        ("A=[b", "expected ',' or ']'", 4),
        ("A=[b}", "expected ',' or ']'", 4),
        ("A={b=c", "expected ',' or '}'", 6),
        ("A={b}", "expected '=' after 'b'", 4),
        ("A='b", "no closing '", 2),
        ('A=b,"c', 'no closing "', 4),
        ("A='b'c", "expected ',' or the end", 5),
        ("A=b,c d=e", "expected ',' or the end", 7),
        ("A=b,A=c", "'A' is given twice; a space, not ',', separates one structure from", 4),
        ("A={b=c,b=d}", "'b' is given twice", 7),
        ("A=b,{", "expected a value", 4),
    ],
)
def test_what_is_no_shorthand_is_pointed_at(text, problem, position):
    """The error says what was expected, and where."""
    with pytest.raises(ShorthandError) as caught:
        parse(text)
    said, shown, pointer = str(caught.value).split("\n")
    assert said.startswith(problem)
    assert said.endswith(f", at position {position + 1} of")
    assert (shown, pointer) == (f"  {text}", f"  {' ' * position}^")
    assert caught.value.position == position


def test_error_in_a_later_line_shows_that_line():
    """Of a text of several lines, the one with the mistake is shown."""
    with pytest.raises(ShorthandError) as caught:
        parse("A=b,\nC,=,\nD=e")
    assert str(caught.value) == "expected a value, at position 8 of\n  C,=,\n    ^"


def test_values_after_an_at_sign_are_loaded():
    """``@=`` has its words replaced, in lists and braces too, and no others."""
    loaded = parse("A@=x,y,B=x,C@=[x],D={e@=x,f=x}", load=lambda word: f"<{word}>")
    assert loaded == {"A": ["<x>", "<y>"], "B": "x", "C": ["<x>"], "D": {"e": "<x>", "f": "x"}}


def test_nesting_beyond_all_measure_is_an_error():
    """The parser's own depth is no traceback."""
    with pytest.raises(ShorthandError, match="^it is nested too deeply, at position"):
        parse("A=" + "{a=" * 100_000)


KEYS = st.text("abzAZ09_.#/:-", min_size=1, max_size=5)
TEXTS = st.text("ab ,=[]{}'\"\\\n\u00e9@", max_size=8)
ITEMS = st.recursive(
    TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def written(value):
    """Write a value in shorthand, every text in quotes."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    return f"{{{pairs(value)}}}"


def pairs(members):
    """Write the members of a structure."""
    return ",".join(f"{name}={written(value)}" for name, value in members.items())


@given(st.dictionaries(KEYS, ITEMS, min_size=1, max_size=4))
def test_whatever_is_written_in_shorthand_is_read_again(members):
    """Nested to any depth, with every sign in its texts."""
    assert parse(pairs(members)) == members


@given(st.dictionaries(KEYS, st.lists(TEXTS, min_size=2, max_size=3), min_size=1, max_size=3))
def test_lists_need_no_brackets(members):
    """Several words, with commas between, are a list up to the next pair."""
    text = ",".join(f"{name}={','.join(map(written, each))}" for name, each in members.items())
    assert parse(text) == members


@given(st.text("Aa1=,[]{}'\"\\ \n@:", max_size=12))
def test_any_text_is_shorthand_or_pointed_at(text):
    """Nothing else is raised, and the position lies in the text or at its end."""
    try:
        parse(text)
    except ShorthandError as error:
        assert 0 <= error.position <= len(text)
