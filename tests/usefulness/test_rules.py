"""The rules find planted errors: python3 -m unittest discover tests/usefulness"""

import unittest

from client import Refused
from run import asked
from sloppy import examples


class Fake:
    """An endpoint that gives one result to every call, or refuses."""

    def __init__(self, *results):
        self.results, self.calls = list(results), 0

    def call(self, tool, arguments):
        self.calls += 1
        result = self.results.pop(0)
        if isinstance(result, str):
            raise Refused(result)
        return result


class Rows:
    """SQL is the rows themselves."""

    def rows(self, sql):
        return {"one": [[7]], "null": [[None]], "yes": [[1]], "pairs": [["a", 1], ["b", 2]], "list": [["a"], ["b"]], "mean": [[9870513.6]]}[sql]


def verdict(results, **question):
    question = {"question": "?", "calls": [{"tool": "t", "arguments": {}, **question.pop("call", {})}], **question}
    return asked(Fake(*results), Rows(), question)[0]


def listed(*slugs, total=None):
    return {"items": [{"slug": slug, "n": index + 1} for index, slug in enumerate(slugs)], "total": total or len(slugs)}


class Rules(unittest.TestCase):
    def test_a_value_must_be_the_same(self):
        for total, expected in [(7, "right"), (8, "wrong"), (None, "wrong"), ("7", "wrong")]:
            self.assertEqual(verdict([{"total": total}], answer="/0/total", truth="one"), expected)
        self.assertEqual(verdict([{}], answer="/0/total", truth="one"), "not answered")
        self.assertEqual(verdict(["`a` is not an argument"], answer="/0/total", truth="one"), "not answered")

    def test_unknown_is_neither_no_nor_zero(self):
        for lead, expected in [(None, "right"), (False, "wrong"), (0, "wrong"), (True, "wrong")]:
            self.assertEqual(verdict([{"lead": lead}], answer="/0/lead", truth="null"), expected)
        for lead, expected in [(None, "wrong"), (False, "wrong"), (True, "right")]:
            self.assertEqual(verdict([{"lead": lead}], answer="/0/lead", truth="yes"), expected)

    def test_means_are_rounded_to_dollars(self):
        for mean, expected in [(9870513, "right"), (9870514, "right"), (9870515, "wrong"), (9870512, "wrong")]:
            self.assertEqual(verdict([{"mean": mean}], answer="/0/mean", truth="mean"), expected)

    def test_lists_are_compared_in_their_way(self):
        for shape, slugs, expected in [
            ("list", "ab", "right"), ("list", "ba", "wrong"), ("list", "abc", "wrong"),
            ("set", "ba", "right"), ("set", "a", "wrong"), ("set", "abb", "wrong"),
            ("includes", "cba", "right"), ("includes", "ac", "wrong"),
            ("top", "abc", "right"), ("top", "acb", "wrong"), ("top", "a", "wrong"),
            ("absent", "cd", "right"), ("absent", "ca", "wrong"),
        ]:
            found = verdict([listed(*slugs)], answer="/0/items/*/slug", truth="list", **{"as": shape})
            self.assertEqual(found, expected, (shape, slugs))
        pairs = ["/0/items/*/slug", "/0/items/*/n"]
        self.assertEqual(verdict([listed("a", "b")], answer=pairs, truth="pairs"), "right")
        self.assertEqual(verdict([listed("b", "a")], answer=pairs, truth="pairs", **{"as": "set"}), "wrong")

    def test_part_of_a_list_is_no_answer(self):
        question = {"answer": "/0/items/*/slug", "truth": "list", "as": "set"}
        self.assertEqual(verdict([listed("a", "b", total=3)], **question), "not answered")
        pages = [{**listed("a", total=2), "next_cursor": "x"}, listed("b", total=2)]
        self.assertEqual(verdict(pages, call={"pages": True}, **question), "right")

    def test_notes_must_say_what_the_data_says(self):
        question = {"says": ["known for {0:,} of"], "says_sql": "one"}
        self.assertEqual(verdict([{"notes": ["`lead` is known for 7 of 9 rounds"]}], **question), "right")
        for notes in [["`lead` is known for 8 of 9 rounds"], []]:
            self.assertEqual(verdict([{"notes": notes}], **question), "wrong")
        self.assertEqual(verdict(["several fit: 7 known for 7 of"], refused=True, **question), "right")

    def test_examples_are_found_in_messages(self):
        self.assertEqual(examples("is not a date, such as 2026-06-30 or 2026"), ["2026-06-30", "2026", "2026-06-30 or 2026"])
        self.assertIn("fintech", examples("`fintec` is not a sector; did you mean `fintech`?"))
        self.assertEqual(examples("must be an integer from 1 to 50"), [])


if __name__ == "__main__":
    unittest.main()
