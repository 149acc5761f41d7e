#include "live/runtimes/kubernetes/pod_identity.h"

#include <fmt/format.h>

#include <algorithm>

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr const char* kVolume = "allot-identity";
constexpr const char* kFolder = "/var/run/secrets/allot.dev";
constexpr const char* kFile = "token";
constexpr int kLifetime = 3600;  // seconds; the kubelet renews it after four fifths

void Replace(Json* list, const char* name, Json entry) {
  if (!list->is_array()) *list = Json::array();
  list->erase(std::remove_if(list->begin(), list->end(),
                             [&](const Json& one) { return one.value("name", "") == name; }),
              list->end());
  list->push_back(std::move(entry));
}

const Json& At(const Json& object, const char* pointer) {
  static const Json nothing;
  const Json::json_pointer at(pointer);
  return object.contains(at) ? object.at(at) : nothing;
}

}  // namespace

void GiveIdentity(Json* pod_spec, Json* container) {
  const Json token = {
      {"audience", kIdentityAudience}, {"expirationSeconds", kLifetime}, {"path", kFile}};
  Replace(&(*pod_spec)["volumes"], kVolume,
          {{"name", kVolume},
           {"projected", {{"sources", Json::array({{{"serviceAccountToken", token}}})}}}});
  Replace(&(*container)["volumeMounts"], kVolume,
          {{"name", kVolume}, {"mountPath", kFolder}, {"readOnly", true}});
  Replace(&(*container)["env"], "ALLOT_IDENTITY_FILE",
          {{"name", "ALLOT_IDENTITY_FILE"}, {"value", fmt::format("{}/{}", kFolder, kFile)}});
}

bool HasIdentity(const Json& pod) {
  const Json& volumes = At(pod, "/spec/volumes");
  return std::any_of(volumes.begin(), volumes.end(),
                     [](const Json& one) { return one.value("name", "") == kVolume; });
}

Json MakeTokenReview(const std::string& token) {
  return {{"apiVersion", "authentication.k8s.io/v1"},
          {"kind", "TokenReview"},
          {"spec", {{"token", token}, {"audiences", Json::array({kIdentityAudience})}}}};
}

std::string WhyNotOfPod(const Json& review, const std::string& pod_uid) {
  if (At(review, "/status/authenticated") != true) {
    const Json& error = At(review, "/status/error");
    return fmt::format("its token does not hold: {}", error.is_string()
                                                          ? error.get<std::string>()
                                                          : "the API server says no more");
  }
  // A server that knows no audiences takes any token, of a pod for the API itself too.
  const Json& audiences = At(review, "/status/audiences");
  if (std::find(audiences.begin(), audiences.end(), kIdentityAudience) == audiences.end()) {
    return fmt::format("its token must be for the audience '{}', it is for {}", kIdentityAudience,
                       audiences.dump());
  }
  const Json& uids = At(review, "/status/user/extra/authentication.kubernetes.io~1pod-uid");
  if (pod_uid.empty()) return "it has no pod";
  if (uids != Json::array({pod_uid})) {
    return fmt::format("its token must be of the pod with uid {}, it is of {}", pod_uid,
                       uids.is_null() ? "none" : uids.dump());
  }
  return "";
}

Json MakeReviewRight() {
  return {
      {"apiVersion", "authorization.k8s.io/v1"},
      {"kind", "SelfSubjectAccessReview"},
      {"spec",
       {{"resourceAttributes",
         {{"group", "authentication.k8s.io"}, {"resource", "tokenreviews"}, {"verb", "create"}}}}}};
}

bool MayReview(const Json& answer) { return At(answer, "/status/allowed") == true; }

}  // namespace allot
