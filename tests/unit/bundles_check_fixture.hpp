#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "blueprint/toml/mistakes.hpp"
#include "bundles/checks/findings.hpp"
#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"
#include "support/error.hpp"

namespace edgegpu::test {

/// Facts of an image for Kubernetes 1.31 of which nothing else is known.
inline ImageFacts plain_facts() {
    ImageFacts facts;
    facts.kubernetes = {31};
    return facts;
}

/// Bundles "b0", "b1", …, each with one file of objects that is what kustomize prints.
inline std::vector<RenderedBundle> bundles_of(const std::vector<std::string>& texts) {
    std::vector<RenderedBundle> bundles;
    for (const std::string& text : texts) {
        const std::string name = "b" + std::to_string(bundles.size());
        bundles.push_back({name,
                           {name, "/home/user/" + name, {"b.toml", 3, 12}, {{"a.yaml", text}}},
                           text,
                           read_objects("bundle " + name, text)});
    }
    return bundles;
}

/// Everything that a check says of bundles with these objects; empty if it is nothing. The check is
/// called with KnownObjects, the pods and the Findings.
template <typename Check>
std::string said_of(const std::vector<std::string>& texts, Check check,
                    const ImageFacts& facts = plain_facts()) {
    const std::vector<RenderedBundle> bundles = bundles_of(texts);
    const std::vector<BundleObject> objects = objects_of(bundles);
    const KnownObjects known(objects, facts);
    const std::vector<PodTemplate> pods = pods_of(objects);
    Mistakes mistakes;
    Findings findings(mistakes);
    check(known, pods, findings);
    try {
        mistakes.throw_any("");
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        return failure.render();
    }
    return "";
}

/// The beginning of an object, up to its metadata.
inline std::string object(const std::string& api_version, const std::string& kind,
                          const std::string& name, const std::string& name_space = "") {
    return "apiVersion: " + api_version + "\nkind: " + kind + "\nmetadata:\n  name: " + name +
           "\n" + (name_space.empty() ? "" : "  namespace: " + name_space + "\n");
}

/// A pod in namespace "app" whose specification is `spec`, in the form of a flow mapping's members,
/// beside one container with `container` in it.
inline std::string pod(const std::string& spec, const std::string& container = "") {
    return object("v1", "Pod", "p", "app") + "spec: {" + spec + (spec.empty() ? "" : ", ") +
           "containers: [{name: c, image: 'x:1'" + (container.empty() ? "" : ", ") + container +
           "}]}\n";
}

/// The namespace "app", and what follows it.
inline std::string in_app(const std::string& objects) {
    return object("v1", "Namespace", "app") + "---\n" + objects;
}

/// What a check finds in objects that one file of a bundle has; empty if nothing.
template <typename Check>
std::string text_of_findings(Check check, const std::string& text, const ImageFacts& facts) {
    try {
        Mistakes mistakes;
        Findings findings(mistakes);
        const std::vector<RenderedBundle> bundles{
            {"b",
             {"b", "/home/user/b", {"b.toml", 3, 12}, {{"a.yaml", text}}},
             text,
             read_objects("bundle b", text)}};
        check(objects_of(bundles), facts, findings);
        mistakes.throw_any("");
    } catch (const Error& failure) {
        return failure.render();
    }
    return "";
}

/// Facts of an image in which nothing is left open: no driver, no other manifests.
inline ImageFacts closed_image() {
    ImageFacts facts = facts_without_blueprint();
    facts.partial = false;
    facts.architecture = "x86_64";
    facts.may_have_driver = false;
    facts.may_have_manifests = false;
    return facts;
}

}  // namespace edgegpu::test
