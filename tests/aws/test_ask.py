"""Calls for several requests at once: who is asked for, and what each is answered."""

from __future__ import annotations

import gc
from contextlib import suppress

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError
from hypothesis import given
from hypothesis import strategies as st

from pollwait import TryAgain
from pollwait._core.try_again import Unasked
from pollwait.aws._answer import Answer, is_answer
from pollwait.aws._ask import SharedAsk
from pollwait.aws._memory import MOST_SUSPECTS, Memory
from pollwait.aws._parts import Parts
from pollwait.aws._request import Request, frozen
from pollwait.aws._sharing import Sharing
from pollwait.aws._sole_ask import SoleAsk

from .fakes import error

VOLUMES = Sharing(
    "DescribeVolumes",
    "VolumeIds",
    limit=3,
    results=(("Volumes",),),
    id_fields=("VolumeId",),
    not_found=("InvalidVolume.NotFound",),
)
THROTTLED = error("RequestLimitExceeded", status=503)
DENIED = error("UnauthorizedOperation", "You are not authorized.")


def request(*ids, **params):
    """Return a request for volumes."""
    return Request({"VolumeIds": list(ids), **params}, VOLUMES, "VolumeAvailable")


def ask_for(requests, sharing=VOLUMES, memory=None):
    """Return a round of calls for requests."""
    return SharedAsk(requests, sharing, memory or Memory(), is_answer)


def missing(*ids):
    """Return EC2's error for volumes that do not exist."""
    return error("InvalidVolume.NotFound", f"The volumes {', '.join(map(repr, ids))} do not exist.")


def shown(*ids):
    """Return a response of DescribeVolumes."""
    return {"Volumes": [{"VolumeId": each} for each in ids], "ResponseMetadata": {}}


def played(ask, service):
    """Make the calls of a round; return the ids of each, and the answers."""
    asked = []
    while (params := ask.next()) is not None:
        asked.append(params["VolumeIds"])
        try:
            response = service(params["VolumeIds"])
        except Exception as error:
            ask.failed(error)
        else:
            ask.passed(response)
    return asked, ask.answers()


def played_out(requests, service, sharing=VOLUMES):
    """Play rounds until every request has an answer about all ids; return the calls and those."""
    memory, rounds, whole = Memory(), [], {}
    parts = {each: Parts(each) for each in requests}
    while len(whole) < len(requests):
        left = [each for each in requests if each not in whole]
        asked, answers = played(ask_for(left, sharing, memory), service)
        rounds.append(asked)
        for each in left:
            if isinstance(answers[each], Answer):
                parts[each].add(answers[each])
            if not parts[each].unanswered:
                whole[each] = parts[each].together(sharing, {})
    return rounds, whole


def knowing(*ids, names=True):
    """Return EC2 with these volumes: it refuses a call for any other, and may say for which."""

    def describe(asked):
        unknown = [each for each in asked if each not in ids]
        if unknown:
            raise missing(unknown[0]) if names else error("InvalidVolume.NotFound", "Not found.")
        return shown(*asked)

    return describe


def ids_of(answer):
    """Return the ids that the response of an answer shows."""
    return [each["VolumeId"] for each in answer.response["Volumes"]]


def test_requests_share_a_call():
    """Each id travels once, and each request is answered with its own items only."""
    one, two, both = request("vol-1"), request("vol-2"), request("vol-2", "vol-1")
    asked, answers = played(ask_for([one, two, both]), knowing("vol-1", "vol-2"))
    assert asked == [["vol-1", "vol-2"]]
    assert ids_of(answers[one]) == ["vol-1"]
    assert ids_of(answers[two]) == ["vol-2"]
    assert ids_of(answers[both]) == ["vol-1", "vol-2"]
    assert answers[both].present == ("vol-2", "vol-1")
    assert "ResponseMetadata" in answers[one].response


def test_more_ids_than_a_call_takes_are_split():
    """W9: a round makes one call, and the next one goes on; together they are one answer."""
    ids = [f"vol-{n}" for n in range(7)]
    whole = request(*ids)
    rounds, answers = played_out([whole], knowing(*ids))
    assert rounds == [[ids[:3]], [ids[3:6]], [ids[6:]]]
    assert ids_of(answers[whole]) == ids
    assert (answers[whole].present, answers[whole].absent) == (tuple(ids), ())


def test_error_that_may_pass_loses_nothing_of_what_was_answered():
    """W4: after a throttle the next round goes on with the ids that had no answer yet."""
    ids = [f"vol-{n}" for n in range(9)]
    whole, memory, calls = request(*ids), Memory(), []

    def describe(asked):
        calls.append(asked)
        if len(calls) in (2, 4):
            raise THROTTLED
        return shown(*asked)

    for _ in range(5):
        with suppress(ClientError):
            played(ask_for([whole], memory=memory), describe)
    assert calls == [ids[:3], ids[3:6], ids[3:6], ids[6:], ids[6:]]


def test_request_of_many_ids_holds_up_nobody():
    """Half of a call goes to those who ask for the fewest, half to those who came first."""
    many = Request({"VolumeIds": [f"vol-{n}" for n in range(30)]}, TEN, "")
    few = [Request({"VolumeIds": [f"few-{n}"]}, TEN, "") for n in range(7)]
    memory = Memory()
    asked, answers = played(ask_for([many, *few], TEN, memory), lambda ids: shown(*ids))
    assert asked == [[*(f"few-{n}" for n in range(5)), *(f"vol-{n}" for n in range(5))]]
    assert [type(answers[each]) for each in few] == [Answer] * 5 + [Unasked] * 2
    asked, _ = played(ask_for([*few[5:], many], TEN, memory), lambda ids: shown(*ids))
    assert asked == [["few-5", "few-6", *(f"vol-{n}" for n in range(5, 13))]]


def test_group_remembers_nothing_of_requests_that_are_gone():
    """What a request had answered is forgotten along with it."""
    many, memory = request(*"abcdef"), Memory()
    played(ask_for([many], memory=memory), lambda ids: shown(*ids))
    assert memory.wanted(many) == ["d", "e", "f"]
    del many
    gc.collect()
    assert memory.wanted(request(*"abcdef")) == [*"abcdef"]


@pytest.mark.parametrize(("names", "calls"), [(True, 2), (False, 4)])
def test_id_that_spoils_a_call_fails_alone(names, calls):
    """An id that EC2 refuses is found in the same round, named or not, and the others answered."""
    requests = [request(f"vol-{n}") for n in (1, 2, 3)]
    service = knowing("vol-1", "vol-3", names=names)
    asked, answers = played(ask_for(requests), service)
    assert len(asked) == calls
    assert [ids_of(answers[each]) for each in (requests[0], requests[2])] == [["vol-1"], ["vol-3"]]
    bad = answers[requests[1]]
    assert bad.response is None
    assert bad.error is bad.errors["vol-2"]
    assert bad.error.response["Error"]["Code"] == "InvalidVolume.NotFound"


def test_request_with_a_spoiling_id_keeps_what_is_known_of_the_others():
    """A request of which one id is refused is answered for the other ones."""
    both = request("vol-1", "vol-2")
    _, answers = played(ask_for([both]), knowing("vol-1"))
    answer = answers[both]
    assert ids_of(answer) == ["vol-1"]
    assert (answer.present, answer.absent, list(answer.errors)) == (("vol-1",), (), ["vol-2"])


def test_id_that_an_answer_leaves_out_is_absent():
    """An id that the service neither shows nor refuses is absent from the answer."""
    both = request("vol-1", "vol-2")
    _, answers = played(ask_for([both]), lambda asked: shown("vol-1"))
    assert (answers[both].present, answers[both].absent) == (("vol-1",), ("vol-2",))


TEN = Sharing(
    "DescribeVolumes", "VolumeIds", limit=10, results=(("Volumes",),), id_fields=("VolumeId",),
)  # fmt: skip
MANY = Sharing(
    "DescribeVolumes", "VolumeIds", limit=100, results=(("Volumes",),), id_fields=("VolumeId",),
    not_found=("InvalidVolume.NotFound",),
)  # fmt: skip


def test_round_ends_after_some_failures():
    """Where a great many ids are unknown, a round makes few calls and leaves the rest for later."""
    alive = [f"vol-{n}" for n in range(3)]
    dead = [f"dead-{n}" for n in range(60)]
    requests = [Request({"VolumeIds": [each]}, MANY, "") for each in [*dead, *alive]]
    memory, told = Memory(), []
    for _ in range(7):
        asked, answers = played(ask_for(requests, MANY, memory), knowing(*alive))
        assert len(asked) <= 21
        told.append({each.ids[0] for each in requests if isinstance(answers[each], Answer)})
        assert all(isinstance(answers[each], Answer | TryAgain) for each in requests)
    assert told[:3] == [set(dead[:20]), set(dead[20:40]), set(dead[40:])]
    assert all(set(alive) <= each for each in told[3:])
    assert set.union(*told[4:]) == {*dead, *alive}


def test_those_that_are_known_to_be_bad_wait_for_their_turn():
    """Who was found out is asked again when it is due; who was not even asked comes at once."""
    requests = [Request({"VolumeIds": [f"dead-{n}"]}, MANY, "") for n in range(30)]
    memory = Memory()
    for _ in range(2):
        _, answers = played(ask_for(requests, MANY, memory), knowing())
    kinds = [type(answers[each]) for each in requests]
    assert kinds == [TryAgain] * 20 + [Answer] * 10
    _, answers = played(ask_for(requests, MANY, Memory()), knowing())
    assert [type(answers[each]) for each in requests] == [Answer] * 20 + [Unasked] * 10


@pytest.mark.parametrize(("names", "most"), [(True, 160), (False, 600)])
def test_search_goes_on_where_it_stopped(names, most):
    """Among 400 good ids 100 bad ones are found in a number of calls that grows with theirs."""
    sharing = Sharing(
        "DescribeVolumes", "VolumeIds", limit=500, results=(("Volumes",),),
        id_fields=("VolumeId",), not_found=("InvalidVolume.NotFound",),
    )  # fmt: skip
    ids = [f"vol-{n}" for n in range(500)]
    alive = {each for n, each in enumerate(ids) if n % 5}
    requests = [Request({"VolumeIds": [each]}, sharing, "") for each in ids]
    rounds, answers = played_out(requests, knowing(*alive, names=names), sharing)
    assert sum(map(len, rounds)) <= most
    assert {each.ids[0] for each in requests if answers[each].present} == alive


def test_ids_that_passed_go_first():
    """What is known to be good is asked for by the first call of a round, whatever is bad."""
    alive = [f"vol-{n}" for n in range(20)]
    dead = [f"dead-{n}" for n in range(60)]
    memory = Memory()
    requests = [Request({"VolumeIds": [each]}, MANY, "") for each in [*alive, *dead]]
    for _ in range(4):
        asked, answers = played(ask_for(requests, MANY, memory), knowing(*alive, names=False))
    assert asked[0][:10] == alive[:10]
    assert isinstance(answers[requests[0]], Answer)


@pytest.mark.parametrize("code", ["ValidationException", "InvalidParameterException"])
def test_refusal_that_is_no_matter_of_ids_costs_few_calls(code):
    """Where the first call is refused, and so are some ids alone in the same words, all are."""
    requests = [Request({"VolumeIds": [f"vol-{n}"]}, MANY, "") for n in range(100)]

    def refuse(asked):
        raise error(code, "Invalid cluster identifier.")

    asked, answers = played(ask_for(requests, MANY), refuse)
    assert len(asked) == 9
    assert all(answers[each].error is not None for each in requests)


def test_ids_that_are_refused_in_the_same_words_are_told_from_others():
    """Two malformed ids among a hundred fail alone, though their errors are alike."""
    requests = [Request({"VolumeIds": [f"vol-{n}"]}, MANY, "") for n in range(100)]

    def describe(asked):
        if {"vol-0", "vol-99"} & {*asked}:
            raise error("ValidationException", "An id is too long.")
        return shown(*asked)

    rounds, answers = played_out(requests, describe, MANY)
    assert [each.ids for each in requests if answers[each].errors] == [("vol-0",), ("vol-99",)]
    assert sum(map(len, rounds)) < 50


def test_ids_that_spoiled_a_call_go_by_themselves():
    """From the second round on a dead id costs the others nothing: they are asked for first."""
    memory = Memory()
    requests = [request(f"vol-{n}") for n in (1, 2, 3)]
    for _ in range(2):
        asked, _ = played(ask_for(requests, VOLUMES, memory), knowing("vol-1", "vol-3"))
    assert asked == [["vol-1", "vol-3"], ["vol-2"]]
    assert memory.lots({"vol-1", "vol-2"}) == [["vol-2"]]
    asked, _ = played(ask_for(requests, VOLUMES, memory), knowing("vol-1", "vol-2", "vol-3"))
    assert memory.lots({"vol-1", "vol-2"}) == []


def test_ids_that_were_bad_and_are_not_named_are_asked_for_alone():
    """Where errors name no id, those found out before are not searched among once more."""
    requests = [Request({"VolumeIds": [f"vol-{n}"]}, MANY, "") for n in range(8)]
    memory = Memory()
    for _ in range(2):
        asked, _ = played(ask_for(requests, MANY, memory), knowing(names=False))
    assert [len(each) for each in asked] == [8, *[1] * 8]


def test_few_suspects_are_remembered():
    """Ids that nobody asks for any more are forgotten, the oldest first."""
    memory = Memory()
    memory.condemn(f"vol-{n}" for n in range(MOST_SUSPECTS))
    played(ask_for([request("vol-x")], VOLUMES, memory), knowing())
    assert memory.wanted(request("vol-0", "vol-1", "vol-x")) == ["vol-0"]


def test_round_finds_something_to_ask_for_whatever_others_have_found_out():
    """Where another round clears the last suspects meanwhile, their request is asked for."""

    class Cleared(Memory):
        def lots(self, ids):
            return []

    memory = Cleared()
    memory.condemn(["vol-1"])
    asked, _ = played(ask_for([request("vol-1")], VOLUMES, memory), knowing("vol-1"))
    assert asked == [["vol-1"]]


def test_error_that_is_about_no_id_is_the_answer_of_all():
    """An error of the service that has nothing to do with ids is an answer to everybody."""

    def denied(asked):
        raise DENIED

    requests = [request("vol-1"), request("vol-2")]
    asked, answers = played(ask_for(requests), denied)
    assert len(asked) == 1
    assert [answers[each].error for each in requests] == [DENIED, DENIED]


@pytest.mark.parametrize("why", [THROTTLED, NoCredentialsError()], ids=["throttle", "credentials"])
def test_error_that_is_no_answer_ends_the_round(why):
    """What says nothing of the ids leaves as it is, for the group to deal with."""

    def busy(asked):
        raise why

    ask = ask_for([request(*"abcd")])
    with pytest.raises(type(why)) as caught:
        played(ask, busy)
    assert caught.value is why


def test_throttle_in_the_midst_of_a_round_leaves_the_answers_that_are_there():
    """Who was answered before the throttle keeps it; the throttle is the outcome of the others."""
    memory = Memory()
    memory.condemn(["vol-4"])

    def describe(asked):
        if "vol-4" in asked:
            raise THROTTLED
        return shown(*asked)

    first, last, across = request("vol-1"), request("vol-4"), request("vol-2", "vol-4")
    asked, answers = played(ask_for([first, last, across], memory=memory), describe)
    assert asked == [["vol-1", "vol-2"], ["vol-4"]]
    assert ids_of(answers[first]) == ["vol-1"]
    assert answers[last] is THROTTLED
    assert answers[across].ids == ("vol-2",)


def test_throttle_in_a_search_leaves_the_halves_that_are_known():
    """What a throttle cuts off goes on in the next round: the good half is not searched again."""
    requests = [Request({"VolumeIds": [f"vol-{n}"]}, MANY, "") for n in range(8)]
    memory, calls = Memory(), []

    def describe(asked):
        calls.append(asked)
        if len(calls) == 3:
            raise THROTTLED
        return knowing(*(f"vol-{n}" for n in range(7)), names=False)(asked)

    played(ask_for(requests, MANY, memory), describe)
    played(ask_for(requests, MANY, memory), describe)
    assert [len(each) for each in calls[:4]] == [8, 4, 2, 4]
    assert calls[4:] == [["vol-4", "vol-5"], ["vol-6", "vol-7"], ["vol-6"], ["vol-7"]]


def test_id_that_botocore_does_not_send_fails_alone():
    """What botocore refuses of one id is raised to those who asked for it, and to nobody else."""

    def validating(asked):
        if "" in asked:
            raise ParamValidationError(report="Invalid length for parameter VolumeIds[0]")
        return shown(*asked)

    good, bad = request("vol-1"), request("")
    _, answers = played(ask_for([good, bad]), validating)
    assert ids_of(answers[good]) == ["vol-1"]
    assert isinstance(answers[bad], ParamValidationError)


def test_ids_go_without_page_sizes():
    """W5: parameters for reading in pages never travel together with ids."""
    ask = ask_for([request("vol-1", MaxResults=5, NextToken="x", DryRun=False)])
    assert ask.next() == {"VolumeIds": ["vol-1"], "DryRun": False}


@pytest.mark.parametrize("odd", [None, "Volumes", 3, {"Volumes": None}, {"Volumes": {"a": 1}}])
def test_answer_of_another_shape_shows_nothing(odd):
    """What is no answer of the operation's shows none of the ids, and breaks nothing."""
    asked = request("vol-1")
    _, answers = played(ask_for([asked]), lambda ids: odd)
    assert answers[asked].absent == ("vol-1",)


def test_splitting_looks_at_few_items():
    """Where n requests share an answer, each of its n items is looked at about log n times."""
    looked = []

    class Counting(Sharing):
        __slots__ = ()

        def rebuilt(self, response, ids):
            looked.append(len(response["Volumes"]))
            return super().rebuilt(response, ids)

    sharing = Counting("DescribeVolumes", "VolumeIds", limit=256, results=(("Volumes",),),
                       id_fields=("VolumeId",))  # fmt: skip
    ids = [f"vol-{n}" for n in range(256)]
    requests = [Request({"VolumeIds": [each]}, sharing, "") for each in ids]
    _, answers = played(ask_for(requests, sharing), lambda asked: shown(*asked))
    assert all(ids_of(answers[each]) == list(each.ids) for each in requests)
    assert sum(looked) <= 256 * 2 * 9


IDS = st.sampled_from([f"vol-{n}" for n in range(8)])


@given(
    st.lists(st.lists(IDS, min_size=1, max_size=5, unique=True), min_size=1, max_size=6),
    st.sets(IDS),
    st.sets(IDS),
    st.booleans(),
)
def test_each_request_is_answered_as_if_alone(wanted, dead, hidden, names):
    """Whoever travels along, a request is told the same of its ids as it would be by itself."""

    def describe(asked):
        bad = [each for each in asked if each in dead]
        if bad:
            raise missing(*bad) if names else error("InvalidVolume.NotFound", "Not found.")
        return shown(*(each for each in asked if each not in hidden))

    requests = list(dict.fromkeys(request(*ids) for ids in wanted))
    rounds, answers = played_out(requests, describe)
    assert set(answers) == set(requests)
    assert all(0 < len(ids) <= 3 for asked in rounds for ids in asked)
    for each in requests:
        told = answers[each]
        assert isinstance(told, Answer)
        assert set(told.errors) == dead.intersection(each.ids)
        assert set(told.absent) == hidden.intersection(each.ids) - dead
        assert set(told.present) == set(each.ids) - dead - hidden
        shows = [] if told.response is None else ids_of(told)
        assert set(shows) == set(told.present)


def test_requests_without_ids_are_asked_for_one_by_one():
    """Requests that share nothing are called for with their own parameters, each by itself."""
    one, two = (Request({"StackName": name}, None, "Stack") for name in "ab")
    ask = SoleAsk([one, two], is_answer)
    assert ask.next() == {"StackName": "a"}
    ask.passed({"Stacks": []})
    assert ask.next() == {"StackName": "b"}
    ask.failed(DENIED)
    assert ask.next() is None
    answers = ask.answers()
    assert answers[one].response == {"Stacks": []}
    assert (answers[two].response, answers[two].error) == (None, DENIED)


def test_requests_without_ids_share_what_ends_a_round():
    """A throttle is the outcome of those that were not asked for yet as well."""
    one, two, three = (Request({"StackName": name}, None, "Stack") for name in "abc")
    ask = SoleAsk([one, two, three], is_answer)
    ask.next()
    ask.passed({"Stacks": []})
    ask.next()
    ask.failed(THROTTLED)
    assert ask.next() is None
    answers = ask.answers()
    assert answers[one].response == {"Stacks": []}
    assert (answers[two], answers[three]) == (THROTTLED, THROTTLED)
    ask = SoleAsk([one, two], is_answer)
    ask.next()
    ask.failed(THROTTLED)
    with pytest.raises(ClientError) as caught:
        ask.answers()
    assert caught.value is THROTTLED


class TestRequest:
    """Requests as keys."""

    def test_equal_requests_are_equal_keys(self):
        """Parameters that say the same make the same request, whatever their order."""
        one = request("vol-1", Filters=[{"Name": "a", "Values": ["b"]}], DryRun=True)
        two = request("vol-1", DryRun=True, Filters=({"Values": ("b",), "Name": "a"},))
        assert one == two
        assert hash(one) == hash(two)
        assert request("vol-1") != request("vol-2")
        assert request("vol-1") != request("vol-1", DryRun=True)
        assert one != "vol-1"

    def test_requests_are_out_of_reach(self):
        """What the caller does to the parameters later changes no request."""
        ids = ["vol-1"]
        filters = [{"Name": "a"}]
        asked = Request({"VolumeIds": ids, "Filters": filters}, VOLUMES, "")
        ids.append("vol-2")
        filters[0]["Name"] = "b"
        assert asked.params == {"VolumeIds": ["vol-1"], "Filters": [{"Name": "a"}]}

    def test_what_cannot_be_hashed_is_like_nothing_else(self):
        """Numbers of different types differ, and a stream is like itself alone."""
        odd, other = bytearray(b"x"), memoryview(bytearray(b"x"))
        assert frozen(odd) == frozen(b"x")
        assert frozen(True) != frozen(1)
        assert frozen([1, {"a": [2]}]) == frozen((1, {"a": (2,)}))
        assert frozen(other) != frozen(memoryview(bytearray(b"x")))
        assert frozen(other) == frozen(other)

    @pytest.mark.parametrize(
        ("params", "sharing", "label"),
        [
            ({"VolumeIds": ["a", "b", "c", "d", "e"]}, VOLUMES, "X of a, b, c and 2 more"),
            ({"StackName": "s"}, None, "X of s"),
            ({"Bucket": "b", "Key": "k"}, None, "X of Bucket='b', Key='k'"),
            ({}, VOLUMES, "X"),
        ],
    )
    def test_request_is_named_for_people(self, params, sharing, label):
        """A request says what is waited for by its ids, or by the texts among its parameters."""
        assert repr(Request(params, sharing, "X")) == label
