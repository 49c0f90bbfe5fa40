#include <gmock/gmock.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace {

using Strings = std::vector<std::string>;

}  // namespace

TEST_F(BlueprintTest, repositories_inline) {
    const Blueprint blueprint = parse(R"(
distro = "rhel-9.4"
[[repositories]]
id = "a"
baseurl = ["https://x/$releasever/${basearch}/os", "../repos/a", "file:///srv/$arch"]
gpgkey = ["key", "https://x/key"]
sslclientcert = "/etc/pki/c.pem"
sslclientkey = "k.pem"
priority = 10
excludepkgs = "kernel*"
enabled = false
module_hotfixes = true
)");
    ASSERT_EQ(blueprint.repositories.size(), 1U);
    const Repository& repository = blueprint.repositories[0];
    EXPECT_EQ(repository.baseurls,
              (Strings{"https://x/9/x86_64/os", "file://" + (top_ / "repos/a").string(),
                       "file:///srv/x86_64"}));
    EXPECT_EQ(repository.gpgkeys, (Strings{(directory_ / "key").string(), "https://x/key"}));
    EXPECT_EQ(repository.sslclientkey, (directory_ / "k.pem").string());
    EXPECT_EQ(repository.priority, 10);
    EXPECT_EQ(repository.cost, 1000);
    EXPECT_EQ(repository.excludepkgs, Strings{"kernel*"});
    EXPECT_FALSE(repository.enabled);
    EXPECT_TRUE(repository.module_hotfixes);
    EXPECT_TRUE(repository.gpgcheck);
    EXPECT_TRUE(repository.repo_gpgcheck);
    EXPECT_TRUE(repository.sslverify);
}

TEST_F(BlueprintTest, repository_files) {
    put("redhat.repo", R"(# Red Hat
[baseos]
name = RHEL $releasever
baseurl = https://x/$releasever/os
  https://mirror/$releasever/os
enabled = 1
gpgcheck=Yes
repo_gpgcheck = off
gpgkey = file:///k1, file:///k2
metadata_expire = 86400
sslverify=0
priority=5

; another
[extras]
mirrorlist=https://x/list?arch=$basearch
exclude=a b,c
)");
    const Blueprint blueprint =
        parse("distro = \"rhel-9.4\"\nrepository_files = [\"redhat.repo\"]\n");
    ASSERT_EQ(blueprint.repositories.size(), 2U);
    const Repository& baseos = blueprint.repositories[0];
    EXPECT_EQ(baseos.id, "baseos");
    EXPECT_EQ(baseos.name, "RHEL 9");
    EXPECT_EQ(baseos.baseurls, (Strings{"https://x/9/os", "https://mirror/9/os"}));
    EXPECT_EQ(baseos.gpgkeys, (Strings{"file:///k1", "file:///k2"}));
    EXPECT_TRUE(baseos.gpgcheck);
    EXPECT_FALSE(baseos.repo_gpgcheck);
    EXPECT_FALSE(baseos.sslverify);
    EXPECT_EQ(baseos.priority, 5);
    EXPECT_EQ(baseos.location.line, 2U);
    const Repository& extras = blueprint.repositories[1];
    EXPECT_EQ(extras.mirrorlist, "https://x/list?arch=x86_64");
    EXPECT_EQ(extras.excludepkgs, (Strings{"a", "b", "c"}));
    EXPECT_TRUE(extras.gpgcheck);
    EXPECT_FALSE(extras.repo_gpgcheck);
}

TEST_F(BlueprintTest, repository_files_of_real_machines) {
    put("redhat.repo", "[a]\nbaseurl=https://x/a\nsslverifystatus = 1\n");
    put("epel.repo",
        "[epel]\nmetalink=https://x/metalink?arch=$basearch&infra=$infra&content=${contentdir}\n"
        "[next]\nbaseurl=https://x/10${releasever_minor:+-z}/$basearch\n");
    const Blueprint blueprint =
        parse("distro = \"rhel-9.4\"\nrepository_files = [\"redhat.repo\", \"epel.repo\"]\n");
    ASSERT_EQ(blueprint.repositories.size(), 3U);
    ASSERT_EQ(blueprint.warnings.size(), 1U);
    EXPECT_TRUE(blueprint.warnings[0].ends_with(
        "redhat.repo:3:1: sslverifystatus is not supported yet: that check is not made"))
        << blueprint.warnings[0];
    // dnf leaves variables as they stand that it does not know.
    EXPECT_EQ(blueprint.repositories[1].metalink,
              "https://x/metalink?arch=x86_64&infra=$infra&content=$contentdir");
    EXPECT_EQ(blueprint.repositories[2].baseurls,
              (Strings{"https://x/10${releasever_minor:+-z}/x86_64"}));
    std::string many;
    for (int i = 0; i < 6000; ++i) {
        many += "[r" + std::to_string(i) + "]\n";
    }
    put("many.repo", many);
    EXPECT_THAT(failure_of("repository_files = [\"many.repo\"]\n"),
                testing::HasSubstr("more than 5000 repositories, or 200 keys of one"));
}

TEST_F(BlueprintTest, repository_file_errors) {
    const auto repo_failure = [&](std::string_view content) {
        put("x.repo", content);
        return failure_of("repository_files = [\"x.repo\"]\n");
    };
    EXPECT_EQ(repo_failure("name=x\n"),
              "error: x.repo:1:1: this is before the first [section]\n"
              "hint: is it a .repo file? These consist of sections: [ID], then KEY = VALUE\n");
    EXPECT_EQ(repo_failure("[a]\nnonsense\n"), "error: x.repo:2:1: expected \"key = value\"\n");
    EXPECT_EQ(repo_failure("[a\n"),
              "error: x.repo:1:1: malformed section header\nhint: as in [ID]\n");
    EXPECT_EQ(repo_failure("[a]\ngpgcheck=maybe\n"),
              "error: x.repo:2:1: \"gpgcheck\" must be a boolean (1 or 0), not \"maybe\"\n");
    EXPECT_EQ(
        repo_failure("[a]\ncost=ten\n"),
        "error: x.repo:2:1: \"cost\" must be an integer between 0 and 1000000, not \"ten\"\n");
    EXPECT_EQ(repo_failure("[a]\nproxy=gopher://joe:secret@p\n"),
              "error: x.repo:2:1: \"proxy\" must be the URL of a proxy\n"
              "hint: as in \"http://proxy.example.com:3128\", or \"_none_\"; schemes are http, "
              "https, ftp, socks4, socks4a, socks5, socks5h\n");
    EXPECT_EQ(repo_failure("[a]\nbaseurl=http://x\nproxy_auth_method=digets\ntimeout=soon\n"),
              "error: x.repo:3:1: \"proxy_auth_method\" must be one of \"any\", \"none\", "
              "\"basic\", \"digest\", \"negotiate\", \"ntlm\", \"digest_ie\", \"ntlm_wb\", "
              "not \"digets\"\n"
              "hint: did you mean \"digest\"?\n"
              "error: x.repo:4:1: \"timeout\" must be a number, as in \"30\", not \"soon\"\n");
    EXPECT_EQ(repo_failure("[a]\nname=x\n"),
              "error: x.repo:1:1: repository \"a\" has neither baseurl nor metalink nor "
              "mirrorlist\n");
    EXPECT_EQ(failure_of("repository_files = [\"absent.repo\"]\n"),
              "error: b.toml:2:21: no such file: absent.repo\n");
    put("redhat.repo", "# managed by subscription-manager\n[main]\n");
    EXPECT_EQ(failure_of("repository_files = [\"redhat.repo\"]\n"),
              "error: b.toml:2:21: the file has no repository: redhat.repo\n"
              "hint: subscription-manager leaves it empty on a machine that is not registered\n");
}

TEST_F(BlueprintTest, paths_of_repositories_are_no_urls) {
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\n"
        "baseurl = [\"./a%20b\", \"file:///a%20b\"]\n");
    EXPECT_EQ(blueprint.repositories[0].baseurls,
              (Strings{"file://" + directory_.string() + "/a%2520b", "file:///a%20b"}));
}

TEST_F(BlueprintTest, variables) {
    const auto repository = [](const std::string& url) {
        return "[ostree]\nref = \"a\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"" + url + "\"\n";
    };
    EXPECT_EQ(failure(repository("https://x/$relver")),
              "error: b.toml:3:1: unknown variable \"$relver\"\n"
              "hint: known are $releasever, $releasever_major, $basearch and $arch\n");
    EXPECT_EQ(
        failure(repository("https://x/$releasever")),
        "error: b.toml:3:1: \"$releasever\" has no value\n"
        "hint: set distro = \"NAME-VERSION\" or releasever = \"VERSION\", or give --distro\n");
    EXPECT_EQ(failure(repository("https://x/${basearch")),
              "error: b.toml:3:1: \"${\" without a name and \"}\"\n");
    const Blueprint blueprint =
        parse("releasever = \"9.4\"\n" + repository("https://x/$releasever_major/$/a$releasever"));
    EXPECT_EQ(blueprint.repositories[0].baseurls, Strings{"https://x/9/$/a9.4"});
}

TEST_F(BlueprintTest, repository_errors) {
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"a\"\n"),
              "error: b.toml:2:1: repository \"a\" has neither baseurl nor metalink nor "
              "mirrorlist\n");
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"../a\"\nbaseurl = \"/x\"\n"),
              "error: b.toml:2:1: invalid repository id \"../a\"\n"
              "hint: letters, digits, '_', '.', '-' and ':'\n");
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"a\"\nbaseurl = \"gopher://x\"\n"),
              "error: b.toml:2:1: not a URL that can be fetched: \"gopher://x\"\n"
              "hint: http://, https://, file:///…, or a path beginning \"/\", \"./\" or \"../\"\n");
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\nsslclientcert = \"c\"\n"),
              "error: b.toml:2:1: repository \"a\" has sslclientcert without sslclientkey\n");
    const std::string proxy =
        failure_of("[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\nproxy = \"joe:pw@p\"\n");
    EXPECT_EQ(proxy.substr(0, proxy.find('\n')),
              "error: b.toml:5:9: \"repositories.proxy\" must be the URL of a proxy");
    EXPECT_EQ(proxy.find("pw@"), std::string::npos) << proxy;
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\npassword = \"p\"\n"),
              "error: b.toml:5:12: \"repositories.password\" without \"repositories.username\"\n");
}

TEST_F(BlueprintTest, transfer_settings) {
    put("p.repo",
        "[p]\nbaseurl=http://x\nproxy=\nproxy_auth_method=NTLM\nretries=0\ntimeout=2m\n"
        "minrate=1.5k\nusername=u\npassword=p w\nproxy_sslverify=0\nuser_agent=a b\n"
        "allow_sha1=1\nallow_private_addresses=1\n");
    const Blueprint blueprint = parse(
        "distro = \"rhel-9.4\"\nrepository_files = [\"p.repo\"]\n[[repositories]]\nid = \"a\"\n"
        "baseurl = \"/x\"\nusername = \"joe\"\npassword = \"secret\"\n"
        "proxy = \"http://proxy:3128\"\nproxy_username = \"p\"\nproxy_password = \"q\"\n"
        "proxy_auth_method = \"digest\"\nproxy_sslcacert = \"ca.pem\"\nretries = 0\n"
        "timeout = 5\nminrate = 7\nallow_sha1 = true\nallow_private_addresses = true\n");
    ASSERT_EQ(blueprint.repositories.size(), 2U);
    const TransferSettings& own = blueprint.repositories[0].transfer;
    EXPECT_EQ(own.username + own.password, "joesecret");
    EXPECT_EQ(own.proxy, "http://proxy:3128");
    EXPECT_EQ(own.proxy_username + own.proxy_password, "pq");
    EXPECT_EQ(own.proxy_auth_method, ProxyAuthentication::digest);
    EXPECT_EQ(own.proxy_sslcacert, (directory_ / "ca.pem").string());
    EXPECT_EQ(own.retries, 0);
    EXPECT_EQ(own.timeout, 5);
    EXPECT_EQ(own.minrate, 7);
    EXPECT_TRUE(own.allow_private_addresses);
    EXPECT_TRUE(blueprint.repositories[0].allow_sha1);
    const TransferSettings& file = blueprint.repositories[1].transfer;
    EXPECT_EQ(file.proxy, "_none_");
    EXPECT_EQ(file.proxy_auth_method, ProxyAuthentication::ntlm);
    EXPECT_EQ(file.retries, 1000);
    EXPECT_EQ(file.timeout, 120);
    EXPECT_EQ(file.minrate, 1536);
    EXPECT_TRUE(file.allow_private_addresses);
    EXPECT_EQ(file.password, "p w");
    EXPECT_FALSE(file.proxy_sslverify);
    EXPECT_EQ(file.user_agent, "a b");
    EXPECT_TRUE(blueprint.repositories[1].allow_sha1);
}

TEST_F(BlueprintTest, repo_files_as_they_lie_on_machines) {
    put("a.repo",
        "\xEF\xBB\xBF[main]\nx=1\n\n[ a ] # of ours\r\nname = A 100%\r\nbaseurl=http://x/\r\n"
        "unknwon=1\r\npriority=3\r\ngpgkey=file:///k1\r\n  file:///k2\r\n"
        "[off]\nenabled=0\nbaseurl=http://x/$nobody\ncost=abc\n[a]\npriority = 7\n");
    put("b.repo", "[a]\nbaseurl=http://other/\n[b]\nbaseurl=http://b/\n");
    const Blueprint blueprint =
        parse("distro = \"rhel-9.4\"\nrepository_files = [\"a.repo\", \"b.repo\"]\n");
    ASSERT_EQ(blueprint.repositories.size(), 2U);
    EXPECT_EQ(blueprint.repositories[0].id, "a");
    EXPECT_EQ(blueprint.repositories[0].name, "A 100%");
    EXPECT_EQ(blueprint.repositories[0].baseurls, Strings{"http://x/"});
    EXPECT_EQ(blueprint.repositories[0].priority, 7);
    EXPECT_EQ(blueprint.repositories[0].gpgkeys, (Strings{"file:///k1", "file:///k2"}));
    EXPECT_EQ(blueprint.repositories[1].id, "b");
    ASSERT_EQ(blueprint.warnings.size(), 2U);
    EXPECT_NE(blueprint.warnings[0].find("a.repo:7:1: unknown key \"unknwon\" is ignored"),
              std::string::npos)
        << blueprint.warnings[0];
    EXPECT_NE(blueprint.warnings[1].find("b.repo:1:1: repository \"a\" is ignored"),
              std::string::npos)
        << blueprint.warnings[1];
}

}  // namespace edgegpu
