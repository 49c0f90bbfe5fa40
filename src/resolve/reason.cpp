#include "resolve/reason.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

/// Textual form of one kind of reason.
struct ReasonForm {
    /// `kind` in the lockfile; empty: never written.
    std::string_view key;
    /// Format string for messages; its arguments are the fields.
    std::string_view text;
    /// Number of fields, the first ones of `reason_field_list`.
    std::size_t fields = 0;
};

constexpr std::array reason_field_list{ReasonField{"name", &Reason::name},
                                       ReasonField{"stream", &Reason::stream},
                                       ReasonField{"profile", &Reason::profile}};

constexpr ReasonForm form_of(Reason::Kind kind) {
    using Kind = Reason::Kind;
    switch (kind) {
        case Kind::unknown:
            return {"unknown", "{}", 1};
        case Kind::requested:
            return {"requested", "requested"};
        case Kind::group:
            return {"group", "group {}", 1};
        case Kind::profile:
            return {"profile", "profile {}:{}/{}", 3};
        case Kind::package_set:
            return {"package-set", "package set {}", 1};
        case Kind::kernel:
            return {"kernel", "kernel"};
        case Kind::driver:
            return {"driver", "nvidia driver {}", 1};
        case Kind::toolkit:
            return {"toolkit", "nvidia toolkit {}", 1};
        case Kind::required_by:
            return {"required-by", "required by {}", 1};
        case Kind::recommended_by:
            return {"recommended-by", "recommended by {}", 1};
        case Kind::dependency:
            return {"dependency", "dependency"};
        case Kind::weak_dependency:
            return {"weak-dependency", "weak dependency"};
        case Kind::module_source:
            return {"module-source", "sources of kernel modules"};
        case Kind::module_compiler:
            return {"module-compiler", "compiles kernel modules"};
        case Kind::policy_compiler:
            return {"policy-compiler", "compiles policy modules"};
        case Kind::compiled:
            return {"", "compiled here"};
        case Kind::of_parent:
            return {"", "of the parent"};
        case Kind::asked_about:
            return {"", "asked about"};
    }
    return {};
}

}  // namespace

std::string Reason::text() const {
    return fmt::format(fmt::runtime(form_of(kind).text), name, stream, profile);
}

std::string_view enum_name(Reason::Kind kind) {
    return form_of(kind).key;
}

std::span<const ReasonField> reason_fields(Reason::Kind kind) {
    return std::span(reason_field_list).first(form_of(kind).fields);
}

Reason reason_in_words(const std::string& words) {
    Reason reason{Reason::Kind::unknown, words};
    each_value<Reason::Kind>([&](Reason::Kind kind) {
        const ReasonForm form = form_of(kind);
        if (form.fields == 0 && form.text == words) {
            reason = {kind};
        }
    });
    return reason;
}

}  // namespace edgegpu
