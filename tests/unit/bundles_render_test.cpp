#include "bundles/render.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/parse/parse.hpp"
#include "bundles/checks/checks.hpp"
#include "bundles_fixture.hpp"
#include "support/files/directory.hpp"
#include "support/text/text.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path bundles_of_tests = fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/bundles";

std::string config_map(const std::string& name) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n";
}

/// A bundle over a shipped one, with one of its components.
BundleFiles with_component(const BundleFiles& bundle, const std::string& component) {
    BundleFiles over = bundle;
    over.files.clear();
    for (const auto& [path, content] : bundle.files) {
        over.files["base/" + path] = content;
    }
    over.files["kustomization.yaml"] =
        "resources: [base]\ncomponents: [base/components/" + component + "]\n";
    return over;
}

/// Compares what kustomize makes of a shipped bundle with tests/data/bundles/rendered/NAME.yaml;
/// EDGEGPU_UPDATE_GOLDEN=1 writes the file instead.
void compare_golden(const std::string& name, const std::string& text) {
    const fs::path file = bundles_of_tests / "rendered" / (name + ".yaml");
    if (std::getenv("EDGEGPU_UPDATE_GOLDEN") != nullptr) {
        write_file(file, text);
    }
    ASSERT_TRUE(fs::exists(file)) << "EDGEGPU_UPDATE_GOLDEN=1 writes " << file;
    EXPECT_EQ(text, read_file(file)) << "see git diff after EDGEGPU_UPDATE_GOLDEN=1; " << file;
}

class RenderTest : public OwnPath {
protected:
    /// A blueprint with the tables in a file beside a bad bundle.
    Blueprint blueprint_with(const fs::path& tables) const {
        const fs::path file = directory() / "b.toml";
        fs::remove(file);
        write_file(file,
                   "distro = \"rhel-9\"\n[[repositories]]\nid = \"a\"\n"
                   "baseurl = \"https://example.invalid/\"\ngpgcheck = false\n"
                   "repo_gpgcheck = false\n" +
                       read_file(tables));
        return parse_blueprint(file);
    }

    /// A bundle of one config map.
    static BundleFiles small() {
        return {"small",
                "/home/user/small",
                {"b.toml", 3, 12},
                {{"kustomization.yaml", "resources: [a.yaml]\n"}, {"a.yaml", config_map("a")}}};
    }

    static RenderedBundle render(const BundleFiles& bundle, const Context& ctx = {}) {
        return render_bundle(ctx, find_renderer(ctx), bundle);
    }

    /// The whole text of the error for a bundle of `blueprint`.
    static std::string failure(const BundleFiles& bundle, const Context& ctx = {},
                               const Blueprint& blueprint = {}) {
        try {
            check_bundles({render(bundle, ctx)}, facts_of(blueprint));
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.render();
        }
        return "none";
    }
};

TEST_F(RenderTest, ARealKustomize) {
    link_real_kustomize();
    BundleFiles bundle = small();
    bundle.files["kustomization.yaml"] += "components: [part]\nnamePrefix: edge-\n";
    bundle.files["part/kustomization.yml"] =
        "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [b.yaml]\n";
    bundle.files["part/b.yaml"] = config_map("b") + "  namespace: there\n";
    const RenderedBundle rendered = render(bundle);
    EXPECT_EQ(rendered.text,
              config_map("edge-b") + "  namespace: there\n---\n" + config_map("edge-a"));
    ASSERT_EQ(rendered.objects.size(), 2U);
    EXPECT_EQ(rendered.objects[0].title(), "ConfigMap there/edge-b");
}

TEST_F(RenderTest, EachBadBundleHasItsMessage) {
    link_real_kustomize();
    unsigned count = 0;
    for (const fs::directory_entry& entry : children_of(bundles_of_tests)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory() || !name.starts_with("bad-")) {
            continue;
        }
        ++count;
        SCOPED_TRACE(name);
        const fs::path tables = bundles_of_tests / (name + ".toml");
        const std::string said =
            failure(read_bundle_files(name, entry.path(), {"b.toml", 3, 12}), {},
                    fs::exists(tables) ? blueprint_with(tables) : Blueprint{});
        EXPECT_THAT(said, HasSubstr("b.toml:3:12"));
        const std::string wanted = read_file(bundles_of_tests / (name + ".txt"));
        for (const std::string_view line : lines_of(wanted)) {
            EXPECT_THAT(said, HasSubstr(std::string(line)));
        }
    }
    EXPECT_GE(count, 20U);
}

TEST_F(RenderTest, EachShippedBundleAndComponentIsAsBefore) {
    link_real_kustomize();
    unsigned count = 0;
    for (const fs::directory_entry& entry :
         children_of(fs::path(EDGEGPU_SOURCE_DIR) / "manifests")) {
        if (!entry.is_directory()) {
            continue;
        }
        const std::string name = entry.path().filename().string();
        const BundleFiles bundle = read_bundle_files(name, entry.path());
        compare_golden(name, render(bundle).text);
        ++count;
        for (const fs::directory_entry& component : children_of(entry.path() / "components")) {
            const std::string part = component.path().filename().string();
            compare_golden(name + '+' + part, render(with_component(bundle, part)).text);
            ++count;
        }
    }
    EXPECT_EQ(count, children_of(bundles_of_tests / "rendered").size()) << "one file for each";
}

TEST_F(RenderTest, TheShippedBundlesPassAllChecksAloneAndTogether) {
    link_real_kustomize();
    const fs::path top = fs::path(EDGEGPU_SOURCE_DIR) / "manifests";
    std::vector<RenderedBundle> all;
    for (const fs::directory_entry& entry : children_of(top)) {
        if (entry.is_directory()) {
            const std::string name = entry.path().filename().string();
            all.push_back(render(read_bundle_files(name, entry.path())));
            EXPECT_FALSE(all.back().objects.empty()) << name;
            EXPECT_NO_THROW(check_bundles({all.back()}, facts_without_blueprint())) << name;
        }
    }
    EXPECT_GE(all.size(), 1U);
    Blueprint device;
    device.nvidia.emplace().driver = "575";
    EXPECT_NO_THROW(check_bundles(all, facts_of(device))) << "all together";
}

TEST_F(RenderTest, IsKept) {
    TemporaryDirectory directory;
    Context ctx;
    ctx.cache = directory.path() / "cache";
    make_directories(ctx.work());
    // What it makes differs at every run: only a kept result is the same again.
    program("kustomize",
            "[ \"$1\" = build ] || { echo v5.0.3; exit; }\n"
            "{ cat /input/a.yaml; echo \"# $(date +%s%N)\"; } >objects.yaml");
    const std::string first = render(small(), ctx).text;
    EXPECT_EQ(render(small(), ctx).text, first);
    BundleFiles other = small();
    other.files["a.yaml"] += "\n";
    EXPECT_NE(render(other, ctx).text, first);
    program("kustomize",
            "[ \"$1\" = build ] || { echo v5.0.4; exit; }\n"
            "{ cat /input/a.yaml; echo \"# $(date +%s%N)\"; } >objects.yaml");
    EXPECT_NE(render(small(), ctx).text, first) << "another version";
}

TEST_F(RenderTest, AProgramThatDoesNotEnd) {
    Context ctx;
    ctx.program_timeout = std::chrono::seconds(1);
    program("kustomize", "[ \"$1\" = build ] || { echo v5.0.3; exit; }\nsleep 1000");
    EXPECT_THAT(
        failure(small(), ctx),
        HasSubstr("b.toml:3:12: bundle \"small\": kustomize 5.0.3 does not come to an end"));
}

TEST_F(RenderTest, AProgramThatIsNoKustomize) {
    const auto with = [&](const std::string& script) {
        program("kustomize", "[ \"$1\" = build ] || { echo v5.0.3; exit; }\n" + script);
        return failure(small());
    };
    EXPECT_THAT(with("exit 0"), HasSubstr("kustomize 5.0.3 wrote nothing"));
    EXPECT_THAT(with("exit 7"), HasSubstr("kustomize 5.0.3 failed with status 7"));
    EXPECT_THAT(with("printf '\\033[31mred\\n' >&2; exit 1"), Not(HasSubstr("\033")));
    EXPECT_THAT(with("head -c 5000 /dev/urandom >objects.yaml"), HasSubstr("not YAML"));
    EXPECT_THAT(with("echo hello >objects.yaml"), HasSubstr("object 1 has no apiVersion"));
    EXPECT_THAT(with("ln -s /usr/bin/env objects.yaml"), HasSubstr("wrote nothing"));
    EXPECT_THAT(with("truncate -s 100M objects.yaml"), HasSubstr("more than 64 MiB"));
    EXPECT_THAT(with("kill -9 $$"), HasSubstr("does not come to an end"));
}

TEST_F(RenderTest, TheRendererSeesTheBundleAndNothingElse) {
    program("kustomize",
            "[ \"$1\" = build ] || { echo v5.0.3; exit; }\n"
            "{ find /input -type f; echo x >/input/a.yaml; chmod 777 /input; touch /input/x\n"
            "cat /proc/net/dev /etc/passwd; echo $HOME; id -u; } >&2; exit 1");
    const std::string said = failure(small());
    EXPECT_THAT(said, HasSubstr("/home/user/small/a.yaml"));
    EXPECT_THAT(said, HasSubstr("Read-only file system"));
    EXPECT_THAT(said, HasSubstr("/etc/passwd: No such file"));
    EXPECT_THAT(said, HasSubstr("/work 1000"));
}

TEST_F(RenderTest, AllBundlesOfABlueprintAreChecked) {
    link_real_kustomize();
    TemporaryDirectory directory;
    std::vector<BundleRequest> requests;
    for (const char* name : {"one", "two", "three"}) {
        const fs::path path = directory.path() / name;
        make_directories(path);
        write_file(path / "kustomization.yaml", "resources: [a.yaml]\n");
        requests.push_back({name, path, {"b.toml", 3, 12}});
    }
    write_file(directory.path() / "two/a.yaml", config_map("a"));
    try {
        (void)render_bundles(Context{}, requests);
        ADD_FAILURE() << "no mistake";
    } catch (const Error& problem) {
        EXPECT_THAT(problem.render(), HasSubstr("one/kustomization.yaml:1:13: \"a.yaml\" is not"));
        EXPECT_THAT(problem.render(), HasSubstr("three/kustomization.yaml:1:13: \"a.yaml\" is"));
        EXPECT_THAT(problem.render(), Not(HasSubstr("two/kustomization.yaml")));
    }
    requests = {requests[1]};
    EXPECT_EQ(render_bundles(Context{}, requests).at(0).objects.at(0).title(), "ConfigMap a");
    EXPECT_TRUE(render_bundles(Context{}, {}).empty());
}

TEST_F(RenderTest, NoRendererIsNeededWithoutBundles) {
    EXPECT_TRUE(render_bundles(Context{}, {}).empty());
}

}  // namespace
}  // namespace edgegpu::test
