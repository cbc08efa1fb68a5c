"""brain-plasma: a shared namespace of named objects.

It replaces objects by a delete and a create under the same id, filters the
list of objects by the beginnings of their ids, and adds up their sizes.
"""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from brain_plasma import Brain
from brain_plasma.exceptions import BrainNamespaceNotExistError
from pyarrow import plasma

MEMORY = 20000000


@pytest.fixture
def server(store):
    return store("plasma_store", MEMORY)


@pytest.fixture
def brain(server):
    brain = Brain(path=server.path)
    yield brain
    brain.sleep()


def test_learn_recall_forget(brain):
    values = {
        "number": 5,
        "text": "something to remember",
        "list": [1, 2.5, None, {"a": (1, 2)}],
        "array": np.arange(100000, dtype=np.float64).reshape(100, 1000),
        "frame": pd.DataFrame({"a": np.arange(1000), "b": ["x", "yz"] * 500}),
    }
    for name, value in values.items():
        brain[name] = value
    assert sorted(brain.names()) == sorted(values)
    assert len(brain) == len(values)
    for name in ("number", "text", "list"):
        assert brain[name] == values[name]
    assert np.array_equal(brain["array"], values["array"])
    assert not brain["array"].flags.writeable
    pd.testing.assert_frame_equal(brain["frame"], values["frame"])
    del brain["text"]
    assert "text" not in brain and len(brain) == len(values) - 1
    with pytest.raises(KeyError):
        brain["text"]
    brain.forget("text")


def test_a_name_learned_again_and_again(brain):
    """Each time the value gets a new id, and the entry of the name the old one."""
    brain.learn("weights", np.zeros(10), description="of the model")
    objects = len(brain.client.list())
    for version in range(50):
        brain["weights"] = np.full(10000, float(version))
        assert brain["weights"][0] == version
    assert len(brain.client.list()) == objects
    assert brain.metadata("weights")["description"] == "of the model"


def test_accounting(brain):
    assert brain.size() == MEMORY and brain.mb == "20 MB"
    used_before, free_before = brain.used(), brain.free()
    assert used_before + free_before == MEMORY
    brain["big"] = np.zeros(1000000, dtype=np.uint8)
    assert 1000000 < brain.used() - used_before < 1005000
    assert brain.used() + brain.free() == MEMORY
    brain.forget("big")
    assert (brain.used(), brain.free()) == (used_before, free_before)


def test_namespaces(server, brain):
    brain["shared"] = "in default"
    brain.set_namespace("training")
    assert "shared" not in brain
    brain["shared"] = "in training"
    assert brain.namespaces() == {"default", "training"}
    assert sorted(brain.names(namespace="all")) == ["shared", "shared"]
    other = Brain(path=server.path, namespace="training")
    assert other["shared"] == "in training"
    other.set_namespace("default")
    assert other["shared"] == "in default"
    other.sleep()
    before = len(brain.client.list())
    brain.remove_namespace("training")
    assert brain.namespaces() == {"default"} and brain.namespace == "default"
    # A value and the entry of its name.
    assert len(brain.client.list()) == before - 2
    assert brain["shared"] == "in default"
    with pytest.raises(BrainNamespaceNotExistError):
        brain.remove_namespace("training")


def test_more_than_fits(brain):
    """Old values make room for new ones."""
    for number in range(30):
        brain["array-%d" % number] = np.full(1000000, number, dtype=np.uint8)
        assert brain["array-%d" % number][-1] == number
        assert brain.used() <= MEMORY


def test_another_process(server, brain):
    brain["question"] = list(range(100))
    script = (
        "from brain_plasma import Brain; brain = Brain(path=%r);"
        "brain['answer'] = sum(brain['question'])" % server.path
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=30)
    assert brain["answer"] == sum(range(100))
    assert plasma.ObjectID(b"brain_namespaces_set") in brain.client.list()


def test_sleep_and_wake_up(brain):
    brain["value"] = 1
    brain.sleep()
    brain.wake_up()
    assert brain["value"] == 1
