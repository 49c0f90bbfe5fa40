"""What kustomize renders, applied to a real API server (api_server.py), and compared with what comes back."""
import base64
import decimal
import subprocess
import sys
import time

try:
    import yaml
except ImportError:
    sys.exit("install python3-yaml")

ROUNDS, PAUSE_S = 10, 1  # a definition takes a moment until its kind is served


class Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """Times are text to Kubernetes."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, expression) for tag, expression in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def rendered(directory):
    """[(text, object)] of what kustomize makes; None if it refuses the bundle."""
    done = subprocess.run(["kustomize", "build", directory], capture_output=True, check=False)
    if done.returncode != 0:
        return None
    texts = ("\n" + done.stdout.decode()).split("\n---\n")
    return [(text, yaml.load(text, Loader)) for text in texts]


SUFFIXES = {"": 1, "m": decimal.Decimal("1e-3"), "u": decimal.Decimal("1e-6"), "n": decimal.Decimal("1e-9"),
            **{letter: 1000 ** power for power, letter in enumerate(["k", "M", "G", "T", "P", "E"], 1)},
            **{letter: 1024 ** power for power, letter in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], 1)}}


def quantity(value):
    """A number, if it is written as one of Kubernetes' quantities: 500m, 1Gi, 1e3."""
    text = str(value)
    number = text.rstrip("kmunKMGTPEi") or "x"
    try:
        return decimal.Decimal(number) * SUFFIXES[text[len(number):]]
    except (decimal.InvalidOperation, KeyError):
        return None


def empty(value):
    return value in ("", {}, []) or value is False or (isinstance(value, dict) and all(map(empty, value.values())))


def differences(sent, got, path=""):
    """Where the server's object has not what was sent; it may have more."""
    if sent is None or (got is None and empty(sent)):
        return
    if isinstance(sent, dict) and isinstance(got, dict):
        for key, value in sent.items():
            yield from differences(value, got.get(key), f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(got, list):
        # The server adds items of its own to some lists (a pod's volumes), which keep their order otherwise.
        if len(got) < len(sent):
            yield f"{path}: {len(sent)} items were sent, {len(got)} came back"
        for number, (one, other) in enumerate(zip(sent, got)):
            yield from differences(one, other, f"{path}[{number}]")
    elif sent != got and (isinstance(sent, bool) or quantity(sent) is None or quantity(sent) != quantity(got)):
        yield f"{path}: {sent!r} was sent, {got!r} came back"


def normalised(thing, namespaced):
    """An object as the server stores it: what is in no namespace drops it (kustomize gives one to all kinds that it does
    not know), text of secrets becomes data, and base64 has no line ends."""
    if not namespaced:
        thing = {**thing, "metadata": {**thing["metadata"], "namespace": None}}
    if thing["kind"] != "Secret" or thing["apiVersion"] != "v1":
        return thing
    data = {key: "".join((value or "").split()) for key, value in (thing.get("data") or {}).items()}
    for key, value in (thing.get("stringData") or {}).items():
        data[key] = base64.b64encode(value.encode()).decode()
    return {**{key: value for key, value in thing.items() if key not in ("stringData", "data")}, "data": data}


def title(thing):
    names = thing["metadata"]
    return f"{thing['kind']} {names.get('namespace', '')}{'/' if 'namespace' in names else ''}{names['name']}"


class AppliedCheck:
    """Applies objects as MicroShift does; each has to be taken, to come back as it was sent, not to change when it is applied
    again, and to cause no warning but those of `expected_warnings`: name → what a warning of its objects may contain."""

    def __init__(self, server, expected_warnings):
        self.server, self.expected_warnings = server, expected_warnings
        self.failures, self.objects, self.warnings = [], 0, 0

    def fail(self, bundle, message):
        self.failures.append(f"{bundle}: {message}")
        print(f"FAILED {self.failures[-1]}", flush=True)

    def apply_good(self, name, directory):
        left = rendered(directory)
        if left is None:
            self.fail(name, "kustomize refuses it")
            return
        done = []
        for round_number in range(ROUNDS):
            later = []
            for text, thing in left:
                answer = self.server.apply(thing, text)
                # MicroShift tries again as well, until kinds and namespaces are there.
                if answer is None or (answer.status == 404 and round_number + 1 < ROUNDS):
                    later.append((text, thing))
                else:
                    self.check_answer(name, thing, answer)
                    done.append((text, thing, answer))
            left = later
            if not left:
                break
            time.sleep(PAUSE_S)
        for _, thing in left:
            self.fail(name, f"{title(thing)}: no such kind: {thing['apiVersion']}")
        self.apply_again(name, done)

    def check_answer(self, name, thing, answer):
        self.objects += 1
        if answer.refused:
            self.fail(name, f"{title(thing)}: {answer.message}")
            return
        if thing["kind"] == "Namespace":
            self.server.equip_namespace(thing["metadata"]["name"])
        _, namespaced = self.server.find_kind(thing["apiVersion"], thing["kind"])
        for difference in differences(normalised(thing, namespaced), answer.content):
            self.fail(name, f"{title(thing)}{difference}")
        for warning in answer.warnings:
            self.warnings += 1
            if not any(part in warning for part in self.expected_warnings.get(name, [])):
                self.fail(name, f"{title(thing)}: warning: {warning}")

    def apply_again(self, name, done):
        """The next start of MicroShift must change nothing, or workloads would restart."""
        for text, thing, before in done:
            if before.refused:
                continue
            answer = self.server.apply(thing, text)
            if answer is None or answer.refused:
                self.fail(name, f"{title(thing)}: refused the second time: {answer and answer.message}")
            elif answer.content.get("metadata", {}).get("generation") != before.content["metadata"].get("generation"):
                self.fail(name, f"{title(thing)}: changed by the second time")
