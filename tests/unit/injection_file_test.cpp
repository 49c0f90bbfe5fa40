#include "image_file/injection_file.hpp"

#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "blueprint/toml/mistakes.hpp"
#include "image_file/licence_token.hpp"
#include "support/base64.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

constexpr const char* public_key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b";

class InjectionFixture : public test::CommitFixture {
public:
    InjectionFixture() {
        for (const char* path : {"/usr/sbin", "/usr/lib", "/usr/lib/systemd"}) {
            if (!tree.entries.contains(path)) {
                add_directory(path);
            }
        }
        add_file("/usr/lib/passwd",
                 "root:x:0:0::/root:/bin/bash\nadmin:x:1000:1001::/home/admin:/bin/bash\n"
                 "daemon:x:2:2::/:/sbin/nologin\n");
    }
    Injection read(const std::string& text) {
        const std::filesystem::path file = directory() / "machine.toml";
        write_file(file, text);
        const Commit commit = build();
        return read_injection_file(file, RepositoryView(repo()).open(commit.checksum));
    }
    std::string failure(const std::string& text) {
        try {
            (void)read(text);
        } catch (const Error& caught) {
            EXPECT_EQ(caught.kind(), ErrorKind::usage);
            std::string said = caught.render();
            const std::string prefix = (directory() / "machine.toml").string();
            for (std::size_t at = said.find(prefix); at != std::string::npos;
                 at = said.find(prefix)) {
                said.replace(at, prefix.size(), "F");
            }
            return said;
        }
        return "no error";
    }
};

TEST(InjectionFile, HostNameAndFiles) {
    InjectionFixture fixture;
    write_file(fixture.directory() / "secret", "from a file\n");
    const Injection all = fixture.read(
        "hostname = \"edge-7\"\n"
        "[[files]]\npath = \"/etc/a/b\"\ndata = \"x\"\nmode = \"0600\"\n"
        "[[files]]\npath = \"/var/lib/c\"\nsource = \"secret\"\n"
        "[[files]]\npath = \"/etc/NetworkManager/system-connections/x\"\ndata = \"x\"\n");
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[3].mode, 0600U) << "NetworkManager ignores others";
    EXPECT_EQ(all[0].path, "/etc/hostname");
    EXPECT_EQ(all[0].content, "edge-7\n");
    EXPECT_EQ(all[1].mode, 0600U);
    EXPECT_EQ(all[2].content, "from a file\n");
    EXPECT_EQ(all[2].mode, 0644U);
}

TEST(InjectionFile, KeysGoToTheHomesOfTheImagesUsers) {
    InjectionFixture fixture;
    const std::string key = std::string("key = \"") + public_key + "\"\n";
    const Injection all = fixture.read("[[user_keys]]\nuser = \"admin\"\n" + key +
                                       "[[user_keys]]\nuser = \"root\"\n" + key +
                                       "[[user_keys]]\nuser = \"admin\"\n" + key);
    ASSERT_EQ(all.size(), 6U);
    EXPECT_EQ(all[0].path, "/var/home/admin");
    EXPECT_EQ(all[0].type, Injected::Type::directory);
    EXPECT_EQ(all[1].mode, 0700U);
    EXPECT_EQ(all[2].path, "/var/home/admin/.ssh/authorized_keys");
    EXPECT_EQ(all[2].uid, 1000U);
    EXPECT_EQ(all[2].gid, 1001U);
    EXPECT_EQ(all[2].mode, 0600U);
    EXPECT_EQ(all[2].content, std::string(public_key) + "\n" + public_key + "\n");
    EXPECT_EQ(all[5].path, "/var/roothome/.ssh/authorized_keys");
}

TEST(InjectionFile, NetworkIsWrittenForWhatTheImageHas) {
    const std::string network =
        "[network]\ninterface = \"eth0\"\naddress = [\"192.0.2.7/24\", \"2001:db8::7/64\"]\n"
        "gateway = \"192.0.2.1\"\ndns = \"192.0.2.53\"\n";
    InjectionFixture fixture;
    fixture.add_file("/usr/lib/systemd/systemd-networkd", "");
    EXPECT_NE(fixture.failure(network).find(
                  "the image has systemd-networkd.service, and nothing starts it"),
              std::string::npos);
    fixture.add_directory("/usr/lib/systemd/system");
    fixture.add_directory("/usr/lib/systemd/system/multi-user.target.wants");
    fixture.add_file("/usr/lib/systemd/system/multi-user.target.wants/systemd-networkd.service",
                     "");
    const Injection networkd = fixture.read(network);
    ASSERT_EQ(networkd.size(), 1U);
    EXPECT_EQ(networkd[0].path, "/etc/systemd/network/10-eth0.network");
    EXPECT_EQ(networkd[0].content,
              "[Match]\nName=eth0\n\n[Network]\nDHCP=no\nAddress=192.0.2.7/24\n"
              "Address=2001:db8::7/64\nGateway=192.0.2.1\nDNS=192.0.2.53\n");
    fixture.add_file("/usr/sbin/NetworkManager", "");
    EXPECT_EQ(fixture.read(network)[0].path, networkd[0].path) << "the one that starts counts";
    fixture.add_file("/usr/lib/systemd/system/multi-user.target.wants/NetworkManager.service", "");
    const Injection keyfile = fixture.read(network);
    EXPECT_EQ(keyfile[0].path, "/etc/NetworkManager/system-connections/eth0.nmconnection");
    EXPECT_EQ(keyfile[0].mode, 0600U);
    EXPECT_EQ(keyfile[0].content,
              "[connection]\nid=eth0\ntype=ethernet\ninterface-name=eth0\nautoconnect=true\n\n"
              "[ipv4]\naddress1=192.0.2.7/24\ngateway=192.0.2.1\ndns=192.0.2.53;\nmethod=manual\n\n"
              "[ipv6]\naddress1=2001:db8::7/64\nmethod=manual\n");
}

TEST(InjectionFile, NothingOfTheNetworkIsDropped) {
    InjectionFixture fixture;
    fixture.add_file("/usr/sbin/NetworkManager", "");
    const std::string begin = "[network]\ninterface = \"eth0\"\naddress = \"192.0.2.7/24\"\n";
    EXPECT_NE(fixture.failure(begin + "gateway = \"2001:db8::1\"\n")
                  .find("\"network.gateway\" 2001:db8::1: the interface has no address of IPv6"),
              std::string::npos);
    EXPECT_NE(fixture.failure(begin + "dns = [\"192.0.2.1\", \"2001:db8::53\"]\n")
                  .find("\"network.dns\" 2001:db8::53: the interface has no address of IPv6"),
              std::string::npos);
}

TEST(InjectionFile, AllMistakesAreReportedWithTheirLines) {
    InjectionFixture fixture;
    const std::string said = fixture.failure(
        "hostname = \"a_b\"\nhostnme = \"x\"\n"
        "[[user_keys]]\nuser = \"nobody-here\"\nkey = \"" +
        std::string(public_key) +
        "\"\n"
        "[[user_keys]]\nuser = \"daemon\"\nkey = \"" +
        std::string(public_key) +
        "\"\n"
        "[[files]]\npath = \"/usr/bin/x\"\ndata = \"x\"\n"
        "[[files]]\npath = \"/etc/../x\"\ndata = \"x\"\n"
        "[[files]]\npath = \"/etc/x\"\n"
        "[[files]]\npath = \"/etc/y\"\nsource = \"is-not-there\"\n"
        "[[files]]\npath = \"/etc/fstab\"\ndata = \"x\"\n"
        "[network]\ninterface = \"eth0\"\naddress = \"192.0.2.7/33\"\n");
    for (const char* expected :
         {"F:1:", "F:2:1: unknown key \"hostnme\"", "the image has no user \"nobody-here\"",
          "the home directory of daemon, /, is not in /var", "/usr/bin/x is neither in /etc nor in",
          "\"files.path\" must be a path without", "give either \"data\" or \"source\" for /etc/x",
          "is-not-there", "/etc/fstab is written with the file systems",
          "\"192.0.2.7/33\" is not an address with prefix"}) {
        EXPECT_NE(said.find(expected), std::string::npos) << expected << "\nin\n" << said;
    }
}

/// {"alg":"RS256"}.{"exp":EXPIRY} with a signature.
std::string licence_token(const std::string& claims) {
    return "eyJhbGciOiJSUzI1NiJ9." + claims + ".c2lnbmF0dXJl";
}
constexpr const char* expires_2099 = "eyJleHAiOjQwOTA5MzQ4MDB9";
constexpr const char* expired_1970 = "eyJleHAiOjF9";

TEST(InjectionFile, TheTokenOfALicenceGoesWhereTheImageLooks) {
    InjectionFixture fixture;
    const std::string name = "client_configuration_token_04-08-2022-15-02-50.tok";
    write_file(fixture.directory() / name, licence_token(expires_2099));
    const std::string text = "[nvidia]\nclient_token = \"" + name + "\"\n";
    EXPECT_NE(fixture.failure(text).find("F:2:16: the image has no nvidia-gridd"),
              std::string::npos);
    fixture.add_file("/usr/bin/nvidia-gridd", "");
    const Injection usual = fixture.read(text);
    ASSERT_EQ(usual.size(), 1U);
    EXPECT_EQ(usual[0].path, "/etc/nvidia/ClientConfigToken/" + name);
    EXPECT_EQ(usual[0].mode, 0744U);
    EXPECT_EQ(usual[0].content, licence_token(expires_2099));
    const Injection by_path =
        fixture.read("[[files]]\npath = \"" + usual[0].path + "\"\nsource = \"" + name + "\"\n");
    EXPECT_EQ(by_path[0].mode, 0744U);
    EXPECT_EQ(
        token_directory_of("# ClientConfigTokenPath=/a\n ClientConfigTokenPath = /var/lib/t/\n"),
        "/var/lib/t");
    EXPECT_EQ(token_directory_of("FeatureType=4\n"), "/etc/nvidia/ClientConfigToken");
    EXPECT_EQ(token_directory_of("ClientConfigTokenPath=\n"), "/etc/nvidia/ClientConfigToken");
}

TEST(InjectionFile, WhatIsNoTokenOrIsNotUsedIsAnError) {
    InjectionFixture fixture;
    fixture.add_file("/usr/bin/nvidia-gridd", "");
    const std::string text = "[nvidia]\nclient_token = \"a.tok\"\n";
    for (const std::string& none :
         {std::string(), std::string("eyJhbGciOiJSUzI1NiJ9"),
          std::string("eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9"), licence_token("e30=.e30="),
          licence_token("a b"), licence_token("WzFd"), licence_token(expires_2099) + ".e30",
          std::string("<html>a.b.c</html>"), std::string("\0.\0.\0", 5)}) {
        write_file(fixture.directory() / "a.tok", none);
        EXPECT_NE(fixture.failure(text).find("F:2:16: a.tok is not a client's token"),
                  std::string::npos)
            << none;
    }
    write_file(fixture.directory() / "a.tok", licence_token(expired_1970));
    EXPECT_NE(fixture.failure(text).find("a.tok expired before the commit was made"),
              std::string::npos);
    const std::string gone = fmt::format("{{\"exp\":{}}}", std::time(nullptr) - 60);
    write_file(fixture.directory() / "a.tok", licence_token(to_base64(gone)));
    EXPECT_NE(fixture.failure(text).find("a.tok has expired"), std::string::npos);
    write_file(fixture.directory() / "a.tok", licence_token(expires_2099));
    EXPECT_EQ(fixture.failure(text), "no error");
    EXPECT_NE(fixture.failure("[nvidia]\nclient_token = \"b.tok\"\n").find("b.tok"),
              std::string::npos);
    EXPECT_NE(fixture.failure("[nvidia]\nclient_token = \"token\"\n").find("is called *.tok"),
              std::string::npos);
    EXPECT_NE(fixture.failure("[nvidia]\n").find("client_token"), std::string::npos);
    for (const char* directory : {"/usr/etc", "/usr/etc/nvidia"}) {
        if (!fixture.tree.entries.contains(directory)) {
            fixture.add_directory(directory);
        }
    }
    fixture.add_file("/usr/etc/nvidia/gridd.conf", "ServerAddress=licences.example\n");
    EXPECT_NE(fixture.failure(text).find("has ServerAddress=licences.example, with which no token"),
              std::string::npos);
}

TEST(InjectionFile, ANetworkThatNothingConfiguresIsAnError) {
    InjectionFixture fixture;
    EXPECT_NE(fixture.failure("[network]\ninterface = \"eth0\"\naddress = \"192.0.2.7/24\"\n")
                  .find("neither NetworkManager nor systemd-networkd"),
              std::string::npos);
}

}  // namespace
}  // namespace edgegpu
