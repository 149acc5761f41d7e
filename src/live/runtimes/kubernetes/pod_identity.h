#pragma once
// Who a pod is: a token that the kubelet gives to this pod alone and renews, which ends with the
// pod, is for allot alone (its audience), and which the API server judges (TokenReview). A worker
// says it when it joins: the token of a job, which all of its pods share, does not make a worker.
// Pure text, for the runtime and its tests.

#include <nlohmann/json.hpp>
#include <string>

namespace allot {

inline constexpr const char* kIdentityAudience = "allot";

// The volume with the token, and where it is: the kubelet fills it before the program begins.
void GiveIdentity(nlohmann::json* pod_spec, nlohmann::json* container);
bool HasIdentity(const nlohmann::json& pod);

nlohmann::json MakeTokenReview(const std::string& token);
// "": the token is of the pod with this uid. Else why it is not, for people.
std::string WhyNotOfPod(const nlohmann::json& review, const std::string& pod_uid);

// May we ask for a TokenReview?
nlohmann::json MakeReviewRight();
bool MayReview(const nlohmann::json& answer);

}  // namespace allot
