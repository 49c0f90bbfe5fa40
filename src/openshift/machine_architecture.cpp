#include "openshift/machine_architecture.hpp"

#include <array>
#include <regex>

namespace edgegpu {

namespace {

/// Names of one cloud's types, as regular expressions (ECMAScript); what is in neither can be
/// either. The generations are bounded: the next one of a family may have another processor.
struct NamingRule {
    std::string_view kind;
    const char* arm;
    const char* intel_or_amd;
};

/// AWS: "g" behind the generation is Graviton, "a" AMD and "i" Intel; families of GPUs have neither
/// of them. GB200 and GB300 are boards with NVIDIA's own processor (Grace), in all three clouds.
/// Google Cloud: series. Azure: "p" among the small letters behind the number of processors.
constexpr std::array naming_rules{
    NamingRule{
        "AWSMachineProviderConfig", R"((a1|[a-z]+[0-9]g[a-z]*|p[0-9][a-z]*-gb[0-9]+)\..+)",
        R"(([a-z]+[0-9][ai][a-z]*(-flex)?|p[2-5][a-z]*|p6-b[23]00|(g[3-6]|gr6)[a-fh-z]*)\..+)"},
    NamingRule{"GCPMachineProviderSpec", "(t2a|c4a|n4a|a4x)-.+",
               "(a2|a3|a4|g2|g4|n1|n2d?|n4d?|c2d?|c3d?|c4d?|e2|t2d|m[1-3]|h3|z3)-.+"},
    NamingRule{
        "AzureMachineProviderSpec",
        "Standard_[A-Z]+[0-9]+(-[0-9]+)?([a-oq-z]*p[a-z]*(_.*)?|[a-z]*_(.*_)?GB[23]00(_.*)?)",
        "Standard_[A-Z]+[0-9]+(-[0-9]+)?[a-oq-z]*"
        "(_(T4|A10|V620|A100|H100|H200|MI300X))?(_v[0-9]+)?"}};

}  // namespace

std::string architecture_of_machines(std::string_view kind, const std::string& type) {
    for (const NamingRule& rule : naming_rules) {
        if (rule.kind != kind) {
            continue;
        }
        if (std::regex_match(type, std::regex(rule.arm))) {
            return "aarch64";
        }
        return std::regex_match(type, std::regex(rule.intel_or_amd)) ? "x86_64" : "";
    }
    return "";
}

}  // namespace edgegpu
