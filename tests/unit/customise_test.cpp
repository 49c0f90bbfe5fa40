#include "customise/customise.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "image_fixture.hpp"
#include "pipeline/snapshot.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

/// A path of the tree → what is there, in words.
using Described = std::map<std::string, std::string>;

Described described(const Tree& tree) {
    Described all;
    for (const auto& [path, entry] : tree.entries) {
        // Directories come and go with what is in them.
        if (entry.type != EntryType::directory) {
            all[path] = fmt::format("{} {:o} {}:{} {}{}", static_cast<int>(entry.type), entry.mode,
                                    entry.uid, entry.gid, entry.digest, entry.target);
        }
    }
    all["kernel arguments"] = fmt::format("{}", fmt::join(tree.kernel_arguments, " "));
    return all;
}

/// What a step did to a tree, or said of it.
struct Outcome {
    /// Paths that changed, as they are now; "": removed.
    Described changes;
    std::vector<std::string> said;

    bool operator==(const Outcome&) const = default;
};

/// A blueprint in which nearly every step has something to do, but for those that need programs of
/// an image; and a recorder that runs the steps one by one.
class CustomiseTest : public test::ImageTest {
protected:
    void SetUp() override {
        test::ImageTest::SetUp();
        ctx.source_date_epoch = 1'700'000'000;
        fill_tree();
        fill_blueprint();
    }

    void fill_tree() {
        accounts();
        for (const char* name : {"crio",         "crun",   "nvidia-container-runtime",
                                 "nvidia-ctk",   "grep",   "ostree",
                                 "flock",        "sed",    "timeout",
                                 "sha256sum",    "date",   "df",
                                 "sync",         "head",   "tail",
                                 "tr",           "cut",    "mkdir",
                                 "rm",           "mv",     "cat",
                                 "sleep",        "dracut", "nvidia-smi",
                                 "grub2-editenv"}) {
            file(std::string("/usr/bin/") + name, "", 0755);
        }
        for (const char* name : {"useradd", "usermod", "groupadd", "pwconv"}) {
            file(std::string("/usr/sbin/") + name, "", 0755);
        }
        for (const char* name : {"sysinit.target", "multi-user.target", "timers.target",
                                 "sshd.service", "nvidia-gridd.service"}) {
            file(std::string("/usr/lib/systemd/system/") + name, "");
        }
        file("/etc/ssh/sshd_config", "Include /etc/ssh/sshd_config.d/*.conf\n");
        file("/etc/chrony.conf", "pool a\nmakestep 1 3\n");
        file("/etc/nvidia-container-runtime/config.toml",
             "[nvidia-container-runtime]\nruntimes = [\"runc\", \"crun\"]\n");
        file("/usr/share/containers/storage.conf", "[storage]\ndriver = \"overlay\"\n");
        file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
        file("/usr/share/crypto-policies/FIPS/a.txt", "");
        file("/usr/lib/dracut/modules.d/01fips/module-setup.sh", "");
        file("/usr/lib/modules/" + tree.kernel + "/.vmlinuz.hmac", "");
        file("/etc/dnf/plugins/product-id.conf", "[main]\nenabled=1\n");
        tree.packages.push_back({"microshift", 0, "4.18.1", "1", "x86_64"});
    }

    void fill_blueprint() {
        Blueprint b;
        b.path = "/b.toml";
        UserRequest& user = b.users.emplace_back();
        user.name = "ada";
        user.key = "ssh-ed25519 AAAA ada";
        // No sshd starts here: only with it somebody can log in.
        user.password = "$6$salt$hash";
        user.groups = {"wheel"};
        b.groups_to_add.emplace_back().name = "plant";
        host_file("overlay/etc/ours", "a");
        host_file("overlay/etc/hostname", "overlay\n");
        host_file("overlay/etc/crio/crio.conf.d/50.conf", "[crio.image]\n");
        OverlayRequest overlay;
        overlay.source = scratch / "overlay";
        overlay.user = "ada";
        overlay.replace = true;
        b.overlays = {overlay};
        add_file(b, "/etc/microshift/config.d/20.yaml", "root");
        add_file(b, "/etc/plant", "plant");
        b.microshift.config.emplace().document = R"({"dns":{"baseDomain":"x"}})";
        b.modprobe.blacklist = {"nouveau"};
        b.nvidia.emplace().mig = {{"", {"1g.18gb"}, {}}};
        b.nvidia->vgpu.emplace().feature_type = 4;
        b.nvidia->numa_node = 0;
        b.gpu_health.emplace();
        b.hostname = "device";
        b.timezone = {"Europe/Berlin", {"ntp.example"}, {}};
        b.device_releasever = "9";
        b.subscription.emplace();
        b.subscription->product_id_plugin = false;
        b.fips.enabled = true;
        FirstbootScript& script = b.firstboot.emplace_back();
        script.name = "a";
        script.contents = "#!/bin/bash\n";
        b.services.masked = {"edgegpu-firstboot.service", "edgegpu-gpu-devices.service"};
        b.kernel.arguments = {"quiet"};
        b.ostree.url = "https://updates.example";
        b.updates.emplace();
        b.updates->time_zone = "Europe/Berlin";
        blueprint = take_snapshot(ctx, b);
        images = {image({test::tar_archive({{.name = "etc/x", .content = "x"}})})};
    }

    static void add_file(Blueprint& b, const std::string& path, const std::string& group) {
        FileRequest& request = b.files.emplace_back();
        request.path = path;
        request.group = group;
        request.data = "a: b\n";
        request.ensure_parents = true;
    }

    /// What the step does to a tree, which it changes.
    Outcome outcome(const TreeStep& step) {
        Console said(Color::never, true);
        Console* const usual = ctx.console;
        ctx.console = &said;
        const Described before = described(tree);
        Outcome result;
        try {
            step.run();
        } catch (const Error& failure) {
            result.said.push_back(failure.render());
        }
        ctx.console = usual;
        const Described after = described(tree);
        for (const auto& [path, entry] : after) {
            const auto found = before.find(path);
            if (found == before.end() || found->second != entry) {
                result.changes[path] = entry;
            }
        }
        for (const auto& [path, entry] : before) {
            if (!after.contains(path)) {
                result.changes[path] = "";
            }
        }
        const std::vector<std::string> warnings = said.warnings();
        result.said.insert(result.said.end(), warnings.begin(), warnings.end());
        return result;
    }

    /// The tree as it would be without what steps other than `seen` did: what packages brought.
    Tree hidden_from(const std::vector<std::string_view>& seen) const {
        Tree result = tree;
        for (const auto& [path, step] : writer_) {
            if (std::ranges::find(seen, step) != seen.end()) {
                continue;
            }
            const auto old = packaged_.entries.find(path);
            if (path == "kernel arguments") {
                result.kernel_arguments = packaged_.kernel_arguments;
            } else if (old != packaged_.entries.end()) {
                result.entries[path] = old->second;
            } else {
                result.entries.erase(path);
            }
        }
        return result;
    }

    /// Runs the step as it sees the tree with the results of `seen` alone, and puts the tree back.
    Outcome outcome_with(const std::vector<std::string_view>& seen, const TreeStep& step) {
        Tree whole = hidden_from(seen);
        std::swap(whole, tree);
        Outcome result = outcome(step);
        tree = std::move(whole);
        return result;
    }

    std::set<std::string_view> run_each();

    void remember(const TreeStep& step, const Outcome& done) {
        for (const auto& [path, entry] : done.changes) {
            writer_[path] = step.name;
        }
    }

    Blueprint blueprint;
    std::vector<StoredImage> images;
    std::map<std::string, std::string> manifests{{"/etc/microshift/manifests/a.yaml", "a"}};
    ParentAccounts seeds;
    Tree packaged_;
    /// path → the step that wrote it last
    std::map<std::string, std::string_view> writer_;
};

/// Runs each step by itself, and compares what it does with what it says. Returns those that change
/// nothing.
std::set<std::string_view> CustomiseTest::run_each() {
    Customisation asked(ctx, blueprint, images, manifests, seeds, tree);
    packaged_ = tree;
    std::set<std::string_view> idle;
    for (const TreeStep& step : asked.steps()) {
        SCOPED_TRACE(step.name);
        const Outcome partial = outcome_with(step.reads, step);
        const Outcome whole = outcome(step);
        EXPECT_EQ(partial.changes, whole.changes) << "it reads more than it says";
        EXPECT_EQ(partial.said, whole.said) << "it reads more than it says";
        for (const auto& [path, entry] : whole.changes) {
            // Whose file a step replaces has to be before it.
            const auto before = writer_.find(path);
            EXPECT_TRUE(before == writer_.end() ||
                        std::ranges::find(step.reads, before->second) != step.reads.end())
                << "it replaces " << path << " of " << before->second;
            EXPECT_TRUE(std::ranges::any_of(step.writes,
                                            [&written = path](std::string_view top) {
                                                return top == "/" || is_below(written, top);
                                            }))
                << "it writes " << path;
        }
        if (whole.changes.empty()) {
            idle.insert(step.name);
        }
        remember(step, whole);
    }
    return idle;
}

TEST_F(CustomiseTest, StepsReadAndWriteWhatTheySay) {
    // The locale is that of the packages, secrets are refused and never written, and the others
    // need programs of an image, or another kind of device.
    EXPECT_EQ(run_each(), (std::set<std::string_view>{"boot success", "configuration", "locale",
                                                      "trust", "firewall", "login",
                                                      "packaged secrets", "snapshot update"}));
}

TEST_F(CustomiseTest, StepsForSnapshotsDoSoToo) {
    tree.update_system = UpdateSystem::snapshots;
    blueprint.updates.reset();
    EXPECT_EQ(run_each(), (std::set<std::string_view>{
                              "boot success", "configuration", "locale", "trust", "firewall",
                              "login", "packaged secrets", "boot link", "remote", "updates"}));
}

TEST_F(CustomiseTest, NoStepComesBeforeOneThatItReads) {
    Customisation asked(ctx, blueprint, images, manifests, seeds, tree);
    const std::vector<TreeStep> steps = asked.steps();
    EXPECT_EQ(order_problem(steps), "");
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        for (std::size_t j = i + 1; j < steps.size(); ++j) {
            std::vector<TreeStep> swapped = steps;
            std::swap(swapped[i], swapped[j]);
            const bool depends = std::ranges::any_of(
                steps.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                steps.begin() + static_cast<std::ptrdiff_t>(j) + 1, [&](const TreeStep& between) {
                    return std::ranges::find(between.reads, steps[i].name) != between.reads.end();
                });
            EXPECT_TRUE(!depends || !order_problem(swapped).empty())
                << steps[i].name << " and " << steps[j].name;
        }
    }
}

TEST_F(CustomiseTest, TheRecorderSeesWhatAStepReads) {
    Customisation asked(ctx, blueprint, images, manifests, seeds, tree);
    packaged_ = tree;
    std::set<std::string> seen;
    for (const TreeStep& step : asked.steps()) {
        const Outcome whole = outcome_with(step.reads, step);
        for (const std::string_view read : step.reads) {
            std::vector<std::string_view> others = step.reads;
            std::erase(others, read);
            if (outcome_with(others, step) != whole) {
                seen.insert(fmt::format("{} < {}", read, step.name));
            }
        }
        remember(step, outcome(step));
    }
    for (const char* pair :
         {"accounts < user files", "gpu devices < nvidia runtime", "first boot < units",
          "gpu devices < units", "accounts < login", "fips < kernel arguments"}) {
        EXPECT_TRUE(seen.contains(pair))
            << pair << " is not among " << fmt::format("{}", fmt::join(seen, ", "));
    }
}

}  // namespace
}  // namespace edgegpu
