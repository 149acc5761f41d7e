#include "live/runtimes/kubernetes/kubernetes_options.h"

#include <gtest/gtest.h>

#include <map>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class KubernetesOptionsTest : public testing::Test {
 protected:
  KubernetesOptionsTest() {
    WriteTextFile(folder_ / "config",
                  "current-context: c\n"
                  "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                  "clusters: [{name: k, cluster: {server: http://127.0.0.1:1}}]\n"
                  "users: [{name: u, user: {}}]\n");
  }

  KubernetesOptions From(std::map<std::string, std::string> given, RuntimeOptions options = {}) {
    given["kubeconfig"] = (folder_ / "config").string();
    options.state = folder_;
    return KubernetesOptionsFrom(Params("runtime 'kubernetes'", KubernetesParams(), given),
                                 options);
  }
  std::string RefusalOf(const std::map<std::string, std::string>& given,
                        const RuntimeOptions& options = {}) {
    return ErrorOf(ExitCode::kUsage, [&] { From(given, options); });
  }

  testing_support::TempFolder folder_;
};

TEST_F(KubernetesOptionsTest, WithoutParametersThereIsOneDaemonOnThisMachine) {
  const KubernetesOptions options = From({});
  EXPECT_EQ(options.config.server, "http://127.0.0.1:1");
  EXPECT_EQ(options.listen, "tcp:127.0.0.1:0");
  EXPECT_EQ(options.lease, "");
  EXPECT_EQ(options.identity, WorkerIdentity::kAuto);
  EXPECT_EQ(options.reading.tolerated, std::vector<std::string>{"nvidia.com/gpu"});
  EXPECT_EQ(options.state, folder_ / "kubernetes");
}

TEST_F(KubernetesOptionsTest, TaintsAreJoinedAndMayBeNone) {
  EXPECT_EQ(From({{"tolerate", "a|b"}}).reading.tolerated, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(From({{"tolerate", ""}}).reading.tolerated.empty());
}

TEST_F(KubernetesOptionsTest, AnUnknownIdentityIsNamed) {
  EXPECT_EQ(RefusalOf({{"identity", "yes"}}),
            "kubernetes: 'identity' must be auto, on or off, got 'yes'");
}

TEST_F(KubernetesOptionsTest, AStandbyNeedsALease) {
  RuntimeOptions standby;
  standby.standby = true;
  EXPECT_EQ(RefusalOf({}, standby),
            "kubernetes: --standby needs the Lease that it waits for: lease=NAMESPACE/NAME");
  EXPECT_EQ(RefusalOf({{"lease", "allot/allot"}}, standby), "");
}

TEST_F(KubernetesOptionsTest, WhoListensOnAllAddressesMustSayByWhichPodsReachIt) {
  const std::string all = "tcp:0.0.0.0:7171";
  EXPECT_NE(RefusalOf({{"listen", all}}).find("'address' must say how pods reach this daemon"),
            std::string::npos);
  EXPECT_EQ(RefusalOf({{"listen", all}, {"address", "allot:7171"}}), "");
}

TEST_F(KubernetesOptionsTest, ADryRunListensForNobody) {
  RuntimeOptions dry_run;
  dry_run.dry_run = true;
  EXPECT_EQ(From({{"listen", "tcp:0.0.0.0:7171"}}, dry_run).listen, "tcp:127.0.0.1:0");
}

}  // namespace
}  // namespace allot
