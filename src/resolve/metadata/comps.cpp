#include "resolve/metadata/comps.hpp"

#include <glib.h>

#include <string_view>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

/// State of the parser of comps.xml.
struct Reader {
    Comps& comps;
    std::vector<std::string> path;
    std::string text;
    std::string id;
    std::string type;
    std::string condition;
    PackageGroup group;
    std::vector<std::string> members;

    /// Whether the parent of the current element is `parent`.
    [[nodiscard]] bool inside(std::string_view parent) const {
        return path.size() >= 2 && path[path.size() - 2] == parent;
    }
    void begin(std::string_view element, const char** names, const char** values);
    void end(std::string_view element);
    void add_package();
    void merge_group();
};

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

void Reader::begin(std::string_view element, const char** names, const char** values) {
    path.emplace_back(element);
    text.clear();
    if (element == "group" || element == "environment") {
        id.clear();
        group = {};
        members.clear();
    } else if (element == "packagereq") {
        type = "mandatory";
        condition.clear();
        for (; *names != nullptr; ++names, ++values) {
            if (std::string_view(*names) == "type") {
                type = *values;
            } else if (std::string_view(*names) == "requires") {
                condition = *values;
            }
        }
    }
}

void Reader::add_package() {
    if (type == "mandatory") {
        group.mandatory.push_back(text);
    } else if (type == "default") {
        group.standard.push_back(text);
    } else if (type == "optional") {
        group.optional.push_back(text);
    } else if (type == "conditional" && !condition.empty()) {
        group.conditional.emplace_back(text, condition);
    }
}

void Reader::merge_group() {
    PackageGroup& merged = comps.groups[id];
    append(merged.mandatory, group.mandatory);
    append(merged.standard, group.standard);
    append(merged.optional, group.optional);
    merged.conditional.insert(merged.conditional.end(), group.conditional.begin(),
                              group.conditional.end());
}

void Reader::end(std::string_view element) {
    if (element == "id" && (inside("group") || inside("environment"))) {
        id = text;
    } else if (element == "packagereq") {
        add_package();
    } else if (element == "groupid" && inside("grouplist")) {
        members.push_back(text);
    } else if (element == "group" && !id.empty()) {
        merge_group();
    } else if (element == "environment" && !id.empty()) {
        append(comps.environments[id], members);
    }
    path.pop_back();
    text.clear();
}

void on_begin(GMarkupParseContext* /*context*/, const char* element, const char** names,
              const char** values, gpointer data, GError** /*problem*/) {
    static_cast<Reader*>(data)->begin(element, names, values);
}

void on_end(GMarkupParseContext* /*context*/, const char* element, gpointer data,
            GError** /*problem*/) {
    static_cast<Reader*>(data)->end(element);
}

void on_text(GMarkupParseContext* /*context*/, const char* text, gsize size, gpointer data,
             GError** /*problem*/) {
    static_cast<Reader*>(data)->text.append(text, size);
}

}  // namespace

void add_comps(Comps& comps, const std::string& xml, const std::string& origin) {
    Reader reader{comps, {}, {}, {}, {}, {}, {}, {}};
    const GMarkupParser parser{on_begin, on_end, on_text, nullptr, nullptr};
    const Handle<GMarkupParseContext, g_markup_parse_context_free> context(
        g_markup_parse_context_new(&parser, static_cast<GMarkupParseFlags>(0), &reader, nullptr));
    GError* raw = nullptr;
    const bool good = g_markup_parse_context_parse(context.get(), xml.data(),
                                                   static_cast<gssize>(xml.size()), &raw) != 0 &&
                      g_markup_parse_context_end_parse(context.get(), &raw) != 0;
    const Handle<GError, g_error_free> problem(raw);
    if (!good) {
        throw error(ErrorKind::fetch, "repository '{}': invalid comps metadata: {}", origin,
                    problem ? problem->message : "unknown problem");
    }
}

}  // namespace edgegpu
