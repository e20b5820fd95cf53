import json

from multirater.trust import (
    Finding,
    Trust,
    findings_as_json,
    findings_from_json,
    gravest_first,
    over_cases,
)

FEW = Finding("caution", "3 estimates", "few-labels", {"estimates": 3})


def test_the_level_is_that_of_the_gravest():
    ranked = gravest_first([Finding("good", "a"), Finding("problem", "b"), FEW])
    assert Trust("", ranked).level == "problem"
    assert Trust("", ()).level == "caution"
    assert Trust("Careful.", (FEW,)).as_text() == "Careful.\n  caution: 3 estimates"


def test_one_kind_in_many_cases_is_one_finding_whatever_its_numbers():
    more = Finding("caution", "4 estimates", "few-labels", {"estimates": 4})
    anna, bert = (Finding("problem", f"follows {r}", "follows", raters=(r,)) for r in ("a", "b"))
    found = over_cases({"p1": [anna, FEW], "p2": [bert], "p3": [more], "p4": []})
    assert [(each.text, each.cases) for each in found] == [
        ("3 estimates", ("p1", "p3")),
        ("follows a", ("p1",)),
        ("follows b", ("p2",)),
    ]


def test_findings_survive_json():
    found = (FEW, Finding("problem", "x", "swap", {"d": 0.5}, ("p1",), ("a",), "look", ("0", "1")))
    assert findings_from_json(json.loads(json.dumps(findings_as_json(found)))) == found


def test_what_is_no_finding_is_passed_over():
    odd = [{"level": "odd", "text": ""}, {"level": "good"}, 3, None]
    assert findings_from_json(odd) == ()
    assert findings_from_json(None) == ()
    later = {"level": "good", "text": "x", "unheard": 1}
    assert findings_from_json([later]) == (Finding("good", "x"),)
