#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/metadata_fixture.hpp"
#include "support/resolve_fixture.hpp"

namespace edgegpu::test {

/// A repository "nvidia" without modules, as on RHEL 10; kernels 100, 200 and 300.
class ResolveNvidia : public ResolveFixture {
protected:
    /// kernel-core and kernel-devel of 5.14.0-RELEASE.el9.
    static std::vector<std::string> kernel_packages(const std::string& release) {
        const std::string evr = "5.14.0-" + release + ".el9";
        return {"kernel-core-" + evr + ".x86_64 | provides: kernel = " + evr +
                    ", kernel-uname-r = " + evr + ".x86_64",
                "kernel-devel-" + evr + ".x86_64 | requires: gcc, make"};
    }

    /// User space of a driver version as it is from branch 560 on.
    static std::vector<std::string> driver(const std::string& version) {
        const std::string evr = "3:" + version;
        return {"nvidia-driver-cuda-" + evr + "-1.x86_64 | requires: nvidia-kmod-common = " + evr +
                    ", nvidia-persistenced = " + evr + ", nvidia-driver-firmware = " + evr,
                "nvidia-kmod-common-" + evr + "-1.noarch | requires: nvidia-kmod = " + evr,
                "nvidia-persistenced-" + evr + "-1.x86_64",
                "nvidia-driver-firmware-" + evr + "-1.noarch"};
    }

    static std::string kmod(const std::string& version, const std::string& release,
                            const std::string& open = "") {
        return "kmod-nvidia-" + open + version + "-5.14.0-" + release + "-3:" + version +
               "-3.el9.x86_64 | provides: nvidia-kmod = 3:" + version;
    }

    static std::string sources(const std::string& version, const std::string& kind = "open") {
        return "kmod-nvidia-" + kind + "-dkms-3:" + version +
               "-1.noarch | provides: nvidia-kmod = 3:" + version +
               " | requires: dkms, nvidia-kmod-common = 3:" + version;
    }

    inline static const std::vector<std::string> compilers{
        "gcc-11-1.x86_64 | requires: glibc-devel", "glibc-devel-2-1.x86_64", "make-4-1.x86_64",
        "dkms-3-1.noarch | requires: gcc, make", "elfutils-libelf-devel-1-1.x86_64"};

    static std::string advisory(const std::string& id, const std::string& severity,
                                const std::string& release,
                                const std::string& name = "kernel-core") {
        return "<update from=\"x\" status=\"final\" type=\"security\" version=\"1\"><id>" + id +
               "</id><title>x</title><severity>" + severity +
               "</severity><references><reference href=\"x\" id=\"CVE-2024-" + release +
               "\" type=\"cve\"/></references><pkglist><collection short=\"x\"><name>x</name>"
               "<package name=\"" +
               name + "\" epoch=\"0\" version=\"5.14.0\" release=\"" + release +
               ".el9\" arch=\"x86_64\"><filename>x.rpm</filename></package></collection></pkglist>"
               "</update>";
    }

    ResolveNvidia() : ResolveFixture({"nvidia"}) {
        NvidiaRequest wanted;
        wanted.driver = "570";
        wanted.location = {"/blueprint.toml", 7, 1};
        blueprint_.nvidia = wanted;
        for (const char* release : {"100", "200", "300"}) {
            add(kernel_packages(release));
        }
    }

    void add(const std::vector<std::string>& lines) {
        packages_.insert(packages_.end(), lines.begin(), lines.end());
    }
    NvidiaRequest& nvidia() { return *blueprint_.nvidia; }

    /// Resolves; returns the packages' NEVRAs.
    std::vector<std::string> solve() {
        make_metadata(directory_.path() / "nvidia", packages_, modules_, "", updateinfo_);
        resolution_ = resolve(ctx_, blueprint_);
        return texts(resolution_.packages);
    }
    std::string failure() {
        try {
            solve();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
            return problem.render();
        }
        return "solved";
    }
    /// One line a passed over thing.
    std::vector<std::string> passed_over() const {
        std::vector<std::string> lines;
        for (const PassedOver& passed : resolution_.passed_over) {
            lines.push_back(passed.text());
        }
        return lines;
    }

    std::vector<std::string> packages_;
    std::string modules_;
    std::string updateinfo_;
    Resolution resolution_;
};

}  // namespace edgegpu::test
