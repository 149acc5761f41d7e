"""The little of Kubernetes' REST API that a spike needs: requests, lists, watches. Standard library only."""
import http.client, json, ssl, threading, urllib.parse


class ApiError(Exception):
    def __init__(self, code, body):
        self.code, self.body = code, body
        self.reason = body.get("reason", "") if isinstance(body, dict) else ""
        super().__init__(f"{code} {self.reason}: {body.get('message', body) if isinstance(body, dict) else body}")


MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSONPATCH = "application/json-patch+json"


class Kube:
    """kubeconfig: JSON (which is YAML too), as minikcp.sh writes it."""

    def __init__(self, kubeconfig):
        c = json.load(open(kubeconfig))
        cluster, user = c["clusters"][0]["cluster"], c["users"][0]["user"]
        url = urllib.parse.urlparse(cluster["server"])
        self.host, self.port = url.hostname, url.port
        self.ssl = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.token = user.get("token")
        if "client-certificate" in user:
            self.ssl.load_cert_chain(user["client-certificate"], user["client-key"])
        self.local = threading.local()

    def _connect(self, timeout=30):
        return http.client.HTTPSConnection(self.host, self.port, context=self.ssl, timeout=timeout)

    def _headers(self, kind=None):
        h = {"Accept": "application/json"}
        if kind:
            h["Content-Type"] = kind
        if self.token:
            h["Authorization"] = "Bearer " + self.token
        return h

    def call(self, method, path, body=None, kind="application/json", **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        for attempt in (0, 1):
            c = getattr(self.local, "c", None)
            fresh = c is None
            if fresh:
                c = self.local.c = self._connect()
            try:
                c.request(method, path, data, self._headers(kind if data else None))
                r = c.getresponse()
                text = r.read()
                break
            except (OSError, http.client.HTTPException):
                c.close()
                self.local.c = None
                if fresh or attempt:
                    raise
        try:
            out = json.loads(text)
        except ValueError:
            out = {"message": text.decode(errors="replace")}
        if r.status >= 300:
            raise ApiError(r.status, out)
        return out

    def get(self, path, **q): return self.call("GET", path, **q)
    def post(self, path, body, **q): return self.call("POST", path, body, **q)
    def put(self, path, body, **q): return self.call("PUT", path, body, **q)
    def patch(self, path, body, kind=MERGE, **q): return self.call("PATCH", path, body, kind, **q)
    def delete(self, path, body=None, **q): return self.call("DELETE", path, body, **q)

    def identity_of(self, pod):
        """The token that the kubelet puts into the volume by which a worker's pod shows who it is."""
        source = next(source["serviceAccountToken"] for volume in pod["spec"]["volumes"]
                      for source in volume.get("projected", {}).get("sources", [])
                      if volume["name"] == "allot-identity")
        meta, account = pod["metadata"], pod["spec"].get("serviceAccountName", "default")
        bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
        spec = {"audiences": [source["audience"]], "expirationSeconds": source["expirationSeconds"], "boundObjectRef": bound}
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token"
        return self.post(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})["status"]["token"]

    def watch(self, path, version, seconds=300, **query):
        """(type, object) until the server ends the watch; ApiError 410 when `version` is too old."""
        query.update(watch="1", resourceVersion=version, allowWatchBookmarks="true", timeoutSeconds=seconds)
        c = self._connect(seconds + 30)
        try:
            c.request("GET", path + "?" + urllib.parse.urlencode(query), headers=self._headers())
            r = c.getresponse()
            if r.status != 200:
                raise ApiError(r.status, json.loads(r.read() or b"{}"))
            while True:
                line = r.readline()
                if not line:
                    return
                e = json.loads(line)
                if e["type"] == "ERROR":
                    raise ApiError(e["object"].get("code", 0), e["object"])
                yield e["type"], e["object"]
        finally:
            c.close()

    def follow(self, path, **query):
        """list + watch for ever, as informers do: (type, object); 'SYNC' with all objects after every list."""
        import time
        while True:
            try:
                got = self.get(path, **query)
                version = got["metadata"]["resourceVersion"]
                yield "SYNC", got["items"]
                while True:
                    for kind, o in self.watch(path, version, **query):
                        version = o["metadata"]["resourceVersion"]
                        if kind != "BOOKMARK":
                            yield kind, o
            except ApiError as e:
                if e.code != 410:
                    time.sleep(0.2)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.2)
