#include "resolve/modules/modules_lost.hpp"

#include <yaml.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view mark = "\xEF\xBB\xBF";

/// Whether a line begins with "---" or "...", which at the beginning of a line are always document
/// markers in YAML.
bool is_marker(std::string_view line, std::string_view marker) {
    return line.starts_with(marker) &&
           (line.size() == marker.size() ||
            std::string_view(" \t\r").find(line[marker.size()]) != std::string_view::npos);
}

bool has_content(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string_view::npos && line[first] != '#' && line[first] != '%' &&
            !(is_marker(line, "---") &&
              line.find_first_not_of(" \t\r", 3) == std::string_view::npos)) {
            return true;
        }
    }
    return false;
}

class Parser {
public:
    explicit Parser(std::string_view text) {
        if (yaml_parser_initialize(&parser_) == 0) {
            throw errno_error("yaml_parser_initialize", ENOMEM);
        }
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    ~Parser() {
        yaml_event_delete(&event_);
        yaml_parser_delete(&parser_);
    }
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    /// The next event; nullptr at the end, or if the text is not valid YAML (`broken`).
    const yaml_event_t* next() {
        yaml_event_delete(&event_);
        if (yaml_parser_parse(&parser_, &event_) == 0) {
            broken_ = true;
            return nullptr;
        }
        return event_.type == YAML_STREAM_END_EVENT ? nullptr : &event_;
    }

    [[nodiscard]] bool broken() const { return broken_; }

private:
    yaml_parser_t parser_{};
    yaml_event_t event_{};
    bool broken_ = false;
};

/// Walks the events and keeps track of the current path of keys.
class LostReader {
public:
    std::optional<LostDocument> read(std::string_view text) {
        Parser parser(text);
        while (const yaml_event_t* event = parser.next()) {
            visit(*event);
        }
        return parser.broken() ? std::nullopt : std::optional(std::move(lost_));
    }

private:
    struct Level {
        bool mapping = false;
        bool key_next = true;
        std::string key;
    };

    void visit(const yaml_event_t& event) {
        switch (event.type) {
            case YAML_MAPPING_START_EVENT:
                collection_began(true);
                break;
            case YAML_SEQUENCE_START_EVENT:
                collection_began(false);
                break;
            case YAML_MAPPING_END_EVENT:
            case YAML_SEQUENCE_END_EVENT:
                levels_.pop_back();
                node_ended();
                break;
            case YAML_ALIAS_EVENT:
                scalar("");
                break;
            case YAML_SCALAR_EVENT:
                scalar({reinterpret_cast<const char*>(event.data.scalar.value),
                        event.data.scalar.length});
                break;
            default:
                break;
        }
    }

    /// In a mapping, keys and values alternate.
    void node_ended() {
        if (!levels_.empty() && levels_.back().mapping) {
            levels_.back().key_next = !levels_.back().key_next;
        }
    }

    /// A collection as a key: nothing below it is needed.
    void collection_began(bool mapping) {
        if (!levels_.empty() && levels_.back().mapping && levels_.back().key_next) {
            levels_.back().key.clear();
        }
        levels_.push_back({mapping, mapping, ""});
    }

    void scalar(const std::string& value) {
        if (!levels_.empty() && levels_.back().mapping && levels_.back().key_next) {
            levels_.back().key = value;
        } else {
            keep(value);
        }
        node_ended();
    }

    [[nodiscard]] std::string path() const {
        return sum_of(levels_,
                      [](const Level& level) { return level.mapping ? "/" + level.key : "/-"; });
    }

    void keep(const std::string& value) {
        if (levels_.size() > deepest) {
            return;
        }
        const std::string place = path();
        if (place == "/document") {
            lost_.kind = value == "modulemd"            ? LostDocument::Kind::stream
                         : value == "modulemd-defaults" ? LostDocument::Kind::defaults
                                                        : LostDocument::Kind::other;
        } else if (place == "/data/name" || place == "/data/module") {
            lost_.id.name = value;
        } else if (place == "/data/stream") {
            lost_.id.stream = value;
        } else if (place == "/data/version") {
            lost_.id.version = value;
        } else if (place == "/data/context") {
            lost_.id.context = value;
        } else if (place == "/data/arch") {
            lost_.arch = value;
        } else if (place == "/data/artifacts/rpms/-") {
            lost_.artifacts.push_back(value);
        }
    }

    /// "/data/artifacts/rpms/-"
    static constexpr std::size_t deepest = 4;

    LostDocument lost_;
    std::vector<Level> levels_;
};

/// Whether a readable document has the same stream, version and context.
bool is_there(const ModuleCatalogue& catalogue, const LostDocument& lost) {
    return std::ranges::any_of(catalogue.streams, [&](const ModuleStream& stream) {
        return stream.id.name == lost.id.name && stream.id.stream == lost.id.stream &&
               stream.id.version == lost.id.version && stream.id.context == lost.id.context;
    });
}

/// Whether a readable document of the same stream is newer.
bool is_outdated(const ModuleCatalogue& catalogue, const LostDocument& lost) {
    return std::ranges::any_of(catalogue.streams, [&](const ModuleStream& stream) {
        return stream.id.name == lost.id.name && stream.id.stream == lost.id.stream &&
               document_version(stream.id.version) > document_version(lost.id.version);
    });
}

Error changed_by_loss(const LostDocument& lost, const std::string& package,
                      const std::string& relation) {
    return error(ErrorKind::unsolvable, "{} {}", package, relation)
        .traced(lost.text())
        .hinted(lost.id.stream.empty()
                    ? fmt::format("name the stream of {} in [[enabled_modules]], or leave the "
                                  "package out (excludes)",
                                  lost.id.name)
                    : fmt::format("enable another stream of {}, leave the package out (excludes), "
                                  "or have the repository fixed",
                                  lost.id.name));
}

}  // namespace

std::string LostDocument::text() const {
    std::string what = "a document";
    if (kind == Kind::stream && !id.name.empty()) {
        what = fmt::format("the document of module {}:{}", id.name, id.stream);
        if (!id.version.empty()) {
            what += fmt::format(" (version {})", id.version);
        }
    } else if (kind == Kind::defaults && !id.name.empty()) {
        what = fmt::format("the defaults of module {}", id.name);
    }
    return fmt::format("repository '{}', modules.yaml line {}: {} cannot be read: {}", repository,
                       line, what, cause);
}

std::vector<YamlDocument> split_documents(std::string_view yaml) {
    std::vector<YamlDocument> documents;
    if (yaml.starts_with(mark)) {
        yaml.remove_prefix(mark.size());
    }
    std::size_t begin = 0;
    std::size_t begin_line = 1;
    std::size_t line_number = 0;
    const auto close = [&](std::size_t end) {
        const std::string_view text = yaml.substr(begin, end - begin);
        if (has_content(text)) {
            documents.push_back({begin_line, text});
        }
    };
    for (std::size_t at = 0; at < yaml.size();) {
        ++line_number;
        const std::size_t end = std::min(yaml.find('\n', at), yaml.size());
        const std::string_view line = yaml.substr(at, end - at);
        if (is_marker(line, "---")) {
            close(at);
            begin = at;
            begin_line = line_number;
        } else if (is_marker(line, "...")) {
            close(at);
            begin = std::min(end + 1, yaml.size());
            begin_line = line_number + 1;
        }
        at = end + 1;
    }
    close(yaml.size());
    return documents;
}

std::optional<LostDocument> read_lost_document(std::string_view text) {
    return LostReader().read(text);
}

void refuse_lost_request(const ModuleCatalogue& catalogue, const StreamRequest& request) {
    for (const LostDocument& lost : catalogue.lost) {
        if (lost.kind == LostDocument::Kind::stream && lost.id.name == request.name &&
            lost.id.stream == request.stream && !is_there(catalogue, lost) &&
            !is_outdated(catalogue, lost)) {
            throw error(ErrorKind::unsolvable, "the newest document of module {}:{} cannot be read",
                        request.name, request.stream)
                .traced(lost.text())
                .hinted("use another stream, or have the repository fixed");
        }
    }
}

void refuse_changed_by_loss(const ModuleCatalogue& catalogue, const ModuleSelection& selection,
                            const std::vector<std::pair<std::string, std::string>>& packages) {
    for (const LostDocument& lost : catalogue.lost) {
        const std::set<std::string> artifacts(lost.artifacts.begin(), lost.artifacts.end());
        std::set<std::string> names;
        const ModuleStream* enabled = selection.find(lost.id.name);
        const auto preset = catalogue.defaults.find(lost.id.name);
        const bool is_default =
            preset != catalogue.defaults.end() && preset->second == lost.id.stream;
        if (lost.kind == LostDocument::Kind::stream && !is_there(catalogue, lost)) {
            // It would be active as the default stream, or as the newest document of an enabled
            // stream.
            if (enabled == nullptr
                    ? is_default
                    : enabled->id.stream == lost.id.stream && !is_outdated(catalogue, lost)) {
                std::ranges::transform(artifacts, std::inserter(names, names.end()), artifact_name);
            }
        } else if (lost.kind == LostDocument::Kind::defaults && enabled == nullptr) {
            for (const ModuleStream& stream : catalogue.streams) {
                if (stream.id.name == lost.id.name) {
                    std::ranges::transform(stream.artifacts, std::inserter(names, names.end()),
                                           artifact_name);
                }
            }
        }
        for (const auto& [name, nevra] : packages) {
            const bool modular = selection.included.contains(nevra);
            if (artifacts.contains(nevra) && !modular && lost.kind == LostDocument::Kind::stream) {
                throw changed_by_loss(
                    lost, nevra,
                    fmt::format("belongs to module {}:{}, whose document is unreadable",
                                lost.id.name, lost.id.stream));
            }
            if (names.contains(name)) {
                throw changed_by_loss(
                    lost, nevra,
                    fmt::format("may differ from module {0}'s package: a document of {0} is "
                                "unreadable",
                                lost.id.name));
            }
        }
    }
}

std::string artifact_name(const std::string& nevra) {
    const std::size_t release = nevra.rfind('-');
    const std::size_t version =
        release == std::string::npos || release == 0 ? release : nevra.rfind('-', release - 1);
    return nevra.substr(0, version);
}

std::uint64_t document_version(const std::string& text) {
    return leading_number<std::uint64_t>(text);
}

}  // namespace edgegpu
