#pragma once

#include <string>
#include <vector>

#include "bundles/checks/findings.hpp"
#include "bundles/checks/image_facts.hpp"
#include "support/error.hpp"

namespace edgegpu::test {

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
    facts.architecture = "x86_64";
    facts.may_have_driver = false;
    facts.may_have_manifests = false;
    return facts;
}

}  // namespace edgegpu::test
