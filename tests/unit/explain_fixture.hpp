#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "blueprint/blueprint.hpp"
#include "blueprint/parse/parse.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/metadata_fixture.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu::test {

/// Explanations of blueprints that cannot be solved, compared with
/// tests/data/explanations/NAME.txt; EDGEGPU_UPDATE_GOLDEN=1 writes those files instead. Every
/// printed change is then made in the blueprint's text, and the changed text has to be solvable.
class Explain : public ::testing::Test {
protected:
    static std::string stream_document(const std::string& name, const std::string& stream,
                                       const std::string& artifacts,
                                       const std::string& extra = "") {
        return "---\ndocument: modulemd\nversion: 2\ndata:\n  name: " + name + "\n  stream: \"" +
               stream +
               "\"\n  version: 10\n  context: aaaaaaaa\n  arch: x86_64\n  summary: x\n"
               "  description: x\n  license: {module: [MIT]}\n" +
               extra + "  artifacts: {rpms: [" + artifacts + "]}\n";
    }

    static std::string driver_artifacts(const std::string& version) {
        return "nvidia-driver-3:" + version + "-1.x86_64, nvidia-kmod-common-3:" + version +
               "-1.noarch";
    }

    static std::string driver_stream_document(const std::string& stream,
                                              const std::string& artifacts) {
        return stream_document(
            "nvidia-driver", stream, artifacts,
            "  profiles:\n    ks: {rpms: [nvidia-driver, nvidia-kmod-common]}\n");
    }

    static void add_driver(std::vector<std::string>& packages, const std::string& version) {
        packages.push_back("nvidia-driver-3:" + version +
                           "-1.x86_64 | requires: nvidia-kmod-common = 3:" + version);
        packages.push_back("nvidia-kmod-common-3:" + version +
                           "-1.noarch | requires: nvidia-kmod = 3:" + version);
    }

    /// `title` is what the name has after "kmod-nvidia-": the version, "open-" before it or not.
    static void add_kmod(std::vector<std::string>& packages, const std::string& title,
                         const std::string& version, const std::string& kernel) {
        packages.push_back("kmod-nvidia-" + title + "-" + kernel + "-3:" + version +
                           "-3.el9.x86_64 | provides: nvidia-kmod = 3:" + version +
                           ", kernel-modules = " + kernel +
                           ".el9.x86_64 | requires: (kernel = " + kernel + ".el9 if kernel)");
    }

    static void add_kmod(std::vector<std::string>& packages, const std::string& version,
                         const std::string& kernel) {
        add_kmod(packages, version, version, kernel);
    }

    static void add_kernel(std::vector<std::string>& packages, const std::string& name,
                           const std::string& evr) {
        packages.push_back(name + "-" + evr + ".x86_64 | requires: " + name + "-core = " + evr);
        packages.push_back(name + "-core-" + evr + ".x86_64 | provides: kernel-uname-r = " + evr +
                           ".x86_64" + (name == "kernel" ? ", kernel = " + evr : "") +
                           " | files: /lib/modules/" + evr + ".x86_64/vmlinuz");
    }

    Explain() : console_(Color::never, true) {
        ctx_.cache = directory_.path() / "cache";
        ctx_.console = &console_;
        make_base();
        make_nvidia();
        make_metadata(directory_.path() / "extras",
                      {"extra-tool-1-1.x86_64", "hidden-lib-2-1.x86_64 | provides: glue"});
    }

    void make_base() {
        std::vector<std::string> packages{"app-1.0-1.x86_64 | requires: lib >= 2",
                                          "app-2.0-1.x86_64 | requires: lib >= 2",
                                          "lib-2.0-1.x86_64",
                                          "fighter-1-1.x86_64 | conflicts: lib",
                                          "outer-1-1.x86_64 | requires: inner",
                                          "inner-1-1.x86_64 | requires: glue",
                                          "future-1-1.x86_64 | requires: lib >= 9",
                                          "nowhere-1-1.x86_64 | requires: never-packaged",
                                          "nodejs-1:18.1-1.x86_64",
                                          "nodejs-1:20.1-1.x86_64",
                                          "webapp-1-1.x86_64 | requires: nodejs >= 1:20",
                                          "foreign-1-1.aarch64",
                                          "standard-1-1.x86_64"};
        add_kernel(packages, "kernel", "6.1.0-50.el9");
        add_kernel(packages, "kernel", "6.1.0-56.el9");
        add_kernel(packages, "kernel-rt", "6.1.0-55.rt7.el9");
        make_metadata(directory_.path() / "base", packages,
                      stream_document("nodejs", "18", "nodejs-1:18.1-1.x86_64") +
                          stream_document("nodejs", "20", "nodejs-1:20.1-1.x86_64") +
                          stream_document("web", "1", "",
                                          "  dependencies:\n  - requires: {nodejs: [\"20\"]}\n"));
    }

    void make_nvidia() {
        std::vector<std::string> packages;
        for (const char* version : {"535.200.01", "535.261.03", "550.127.05"}) {
            add_driver(packages, version);
        }
        add_kmod(packages, "535.261.03", "6.1.0-50");
        add_kmod(packages, "550.127.05", "6.1.0-50");
        add_kmod(packages, "550.127.05", "6.1.0-56");
        for (const char* version : {"1.16.2", "1.17.8"}) {
            packages.push_back(std::string("nvidia-container-toolkit-") + version +
                               "-1.x86_64 | requires: nvidia-container-toolkit-base = " + version +
                               "-1, libnvidia-container1 >= " + version);
            packages.push_back(std::string("nvidia-container-toolkit-base-") + version +
                               "-1.x86_64");
            packages.push_back(std::string("libnvidia-container1-") + version + "-1.x86_64");
        }
        packages.emplace_back("nvidia-driver-tools-1-1.x86_64 | files: /usr/bin/nvidia-smi");
        make_metadata(directory_.path() / "nvidia", packages,
                      driver_stream_document("535", driver_artifacts("535.261.03") + ", " +
                                                        driver_artifacts("535.200.01")) +
                          driver_stream_document("550", driver_artifacts("550.127.05")));
    }

    /// Makes a repository with driver 570 and its open modules, compiled for the newest kernel and
    /// as sources.
    [[nodiscard]] std::string newer_driver() const {
        std::vector<std::string> packages;
        add_driver(packages, "570.133.20");
        add_kmod(packages, "open-570.133.20", "570.133.20", "6.1.0-56");
        packages.push_back(
            "kmod-nvidia-open-dkms-3:570.133.20-1.noarch | provides: nvidia-kmod = 3:570.133.20");
        make_metadata(directory_.path() / "newer", packages,
                      driver_stream_document("570-open", driver_artifacts("570.133.20")));
        return repository("newer");
    }

    /// The repositories every blueprint here begins with.
    [[nodiscard]] std::string head() const {
        return "name = \"test\"\ndistro = \"lab-9\"\n\n" + repository("base") +
               repository("nvidia") + repository("extras", "enabled = false   # on demand\n");
    }
    [[nodiscard]] std::string repository(const std::string& id,
                                         const std::string& more = "") const {
        return "[[repositories]]\nid = \"" + id + "\"\nbaseurl = \"" +
               (directory_.path() / id).string() + "\"\nrepo_gpgcheck = false\n" + more + "\n";
    }

    Error failure(const std::filesystem::path& file, bool proof = false) {
        const Blueprint blueprint = parse_blueprint(file);
        try {
            (void)resolve(ctx_, blueprint, {proof});
        } catch (const Error& problem) {
            return problem;
        }
        ADD_FAILURE() << "nothing was thrown";
        return Error("nothing");
    }

    std::filesystem::path write(const std::string& text) {
        std::filesystem::path file = directory_.path() / "blueprint.toml";
        write_file(file, text);
        return file;
    }

    /// The error's text with the scratch directory's name taken out.
    std::string plain(std::string text) {
        const std::string own = directory_.path().string() + "/";
        for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own)) {
            text.erase(at, own.size());
        }
        return text;
    }

    void expect_golden(const std::string& name, const std::string& rest, bool proof = false,
                       const std::string& top = "") {
        const std::string blueprint = top + head() + rest;
        const Error problem = failure(write(blueprint), proof);
        EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
        const std::string text = plain(problem.render());
        const std::filesystem::path golden =
            std::filesystem::path(EDGEGPU_SOURCE_DIR) / "tests/data/explanations" / (name + ".txt");
        if (std::getenv("EDGEGPU_UPDATE_GOLDEN") != nullptr) {
            write_file(golden, text);
        }
        EXPECT_EQ(text, read_file(golden));
        for (const std::string& changed : changed_texts(text, blueprint)) {
            EXPECT_NO_THROW((void)resolve(ctx_, parse_blueprint(write(changed)))) << changed;
        }
    }

    /// The blueprint after each of the changes that an explanation prints.
    static std::vector<std::string> changed_texts(const std::string& explanation,
                                                  const std::string& blueprint) {
        std::vector<std::string> results;
        std::istringstream stream(
            explanation.substr(std::min(explanation.find("\nhint: "), explanation.size())));
        struct Change {
            std::size_t line = 0;
            std::vector<std::string> removed;
            std::vector<std::string> inserted;
        };
        std::vector<std::vector<Change>> fixes;
        for (std::string line; std::getline(stream, line);) {
            if (line.starts_with("  ") && line.find(". gives ") == 3) {
                fixes.emplace_back();
            } else if (line.starts_with("     blueprint.toml:")) {
                fixes.back().push_back({std::stoul(line.substr(line.find(':') + 1)), {}, {}});
            } else if (line.starts_with("     - ")) {
                fixes.back().back().removed.push_back(line.substr(7));
            } else if (line.starts_with("     + ")) {
                fixes.back().back().inserted.push_back(line.substr(7));
            }
        }
        for (std::vector<Change>& changes : fixes) {
            std::vector<std::string> lines;
            std::istringstream text(blueprint);
            for (std::string line; std::getline(text, line);) {
                lines.push_back(line);
            }
            std::sort(changes.begin(), changes.end(),
                      [](const Change& a, const Change& b) { return a.line > b.line; });
            for (const Change& change : changes) {
                const auto at = lines.begin() + static_cast<std::ptrdiff_t>(change.line) - 1;
                const auto end = at + static_cast<std::ptrdiff_t>(change.removed.size());
                std::vector<std::string> old(at, end);
                EXPECT_EQ(old, change.removed);
                lines.insert(lines.erase(at, end), change.inserted.begin(), change.inserted.end());
            }
            std::string& changed = results.emplace_back();
            for (const std::string& line : lines) {
                changed += line + "\n";
            }
        }
        return results;
    }

    TemporaryDirectory directory_;
    Console console_;
    Context ctx_;
};

}  // namespace edgegpu::test
