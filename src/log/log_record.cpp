#include "log/log_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_on_terminal = 300;

std::string quoted_value(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        switch (c) {
            case '\n':
                quoted += "\\n";
                break;
            case '\t':
                quoted += "\\t";
                break;
            case '"':
            case '\\':
                quoted += '\\';
                [[fallthrough]];
            default:
                quoted += c;
        }
    }
    // The control characters that are left; a backslash of \xNN cannot be mistaken, all others
    // are doubled.
    return printable_line(quoted) + '"';
}

std::string plain_or_quoted(std::string_view text) {
    const bool plain = !text.empty() && text.find_first_of(" \"\\=") == std::string_view::npos &&
                       printable_line(text) == text;
    return plain ? std::string(text) : quoted_value(text);
}

std::string value_text(const LogValue::Variant& value, std::size_t most) {
    struct Text {
        std::size_t most;
        std::string operator()(const std::string& text) const {
            return plain_or_quoted(clip(text, most));
        }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return fmt::format("{:.3f}", number); }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(const std::vector<std::string>& texts) const {
            return plain_or_quoted(clip(fmt::format("{}", fmt::join(texts, " ")), most));
        }
    };
    return std::visit(Text{most}, value);
}

std::string text_of_record(const LogRecord& record, std::size_t most) {
    std::string text;
    if (!record.stage.empty()) {
        text += fmt::format("{}: ", printable_line(record.stage));
    }
    text += printable_line(record.message);
    for (const LogField& field : record.fields) {
        text += fmt::format(" {}={}", field.name, value_text(field.value.get(), most));
    }
    return text;
}

ordered_json json_value(const LogValue::Variant& value) {
    return std::visit([](const auto& plain) { return ordered_json(plain); }, value);
}

}  // namespace

std::string record_text(const LogRecord& record) {
    return fmt::format("[{}] {}", printable_line(record.build),
                       text_of_record(record, std::string::npos));
}

std::string record_for_terminal(const LogRecord& record) {
    return text_of_record(record, most_on_terminal);
}

std::string record_json(const LogRecord& record) {
    ordered_json fields = ordered_json::object();
    for (const LogField& field : record.fields) {
        fields[std::string(field.name)] = json_value(field.value.get());
    }
    const ordered_json members = {{"build", record.build},
                                  {"stage", record.stage},
                                  {"message", record.message},
                                  {"fields", std::move(fields)}};
    // Without the opening brace: "time" and "level" are written before.
    return members.dump(-1, ' ', false, ordered_json::error_handler_t::replace).substr(1);
}

}  // namespace edgegpu
