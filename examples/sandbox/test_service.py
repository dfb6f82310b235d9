"""Tests against the sandbox with pytest: pip install pytest requests."""
import json
import os
import shlex
import subprocess

import pytest
import requests


class Sandbox:
    """The service, and the calls that control it."""

    def __init__(self, ready):
        self.url = ready["baseUrl"]
        self.ada = self.session(ready["environment"]["POSTWIRE_BEARER_TOKEN"])
        self.admin = self.session(ready["adminToken"])

    @staticmethod
    def session(token):
        session = requests.Session()
        session.headers["authorization"] = f"Bearer {token}"
        return session

    def control(self, method, path, payload=None):
        response = self.admin.request(method, f"{self.url}/_sandbox{path}", json=payload)
        assert response.ok, response.text
        return response.json()

    def requests(self):
        return self.control("GET", "/journal")["entries"]


@pytest.fixture(scope="session")
def service():
    """One service for the whole run, on a free port."""
    command = shlex.split(os.environ.get("POSTWIRE", "npx postwire"))
    with subprocess.Popen([*command, "sandbox", "--port", "0", "--json"], stdout=subprocess.PIPE, text=True) as process:
        yield Sandbox(json.loads(process.stdout.readline()))
        process.terminate()


@pytest.fixture
def sandbox(service):
    """The service as it was at first, for one test."""
    service.control("POST", "/reset")
    return service


@pytest.fixture
def fault(sandbox):
    """Adds a fault."""
    return lambda **rule: sandbox.control("POST", "/faults", rule)


def test_posts(sandbox):
    response = sandbox.ada.post(f"{sandbox.url}/2/tweets", json={"text": "from Python"})
    assert response.status_code == 201
    assert [(entry["operation"], entry["status"]) for entry in sandbox.requests()] == [("createPost", 201)]


def test_repeats_after_503(sandbox, fault):
    fault(operation="getMe", status=503, headers={"retry-after": "1"})
    answers = [sandbox.ada.get(f"{sandbox.url}/2/users/me").status_code for _ in range(2)]
    assert answers == [503, 200]


def test_is_limited_until_the_window_ends(sandbox):
    sandbox.control("POST", "/budget", {"operation": "getMe", "remaining": 0})
    assert sandbox.ada.get(f"{sandbox.url}/2/users/me").status_code == 429
    sandbox.control("POST", "/clock", {"advance": "15 mins"})
    assert sandbox.ada.get(f"{sandbox.url}/2/users/me").status_code == 200
