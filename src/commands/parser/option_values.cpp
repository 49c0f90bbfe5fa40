#include "commands/parser/option_values.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/text/quantity.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

CLI::Validator one_of(const std::string& words) {
    return {[words](std::string& value) -> std::string {
                const std::vector<std::string_view> choices = split(words, '|');
                if (std::ranges::find(choices, value) != choices.end()) {
                    return "";
                }
                return fmt::format("\"{}\" is not one of {}", value, fmt::join(choices, ", "));
            },
            ""};
}

CLI::Validator not_empty() {
    return {[](std::string& value) -> std::string {
                return value.empty() ? "the value is empty; without the option there is the default"
                                     : "";
            },
            ""};
}

CLI::Validator number_in(int least, int most) {
    return {[least, most](std::string& value) -> std::string {
                int number = 0;
                if (CLI::detail::lexical_cast(value, number) && number >= least && number <= most) {
                    return "";
                }
                return fmt::format("\"{}\" is not a number from {} to {}", value, least, most);
            },
            ""};
}

CLI::Validator size_text() {
    return {[](std::string& value) -> std::string {
                return parse_size(value)
                           ? ""
                           : fmt::format("\"{}\" is not a size: {}", value, size_forms);
            },
            ""};
}

CLI::Validator duration_text() {
    return {[](std::string& value) -> std::string {
                return parse_duration(value)
                           ? ""
                           : fmt::format("\"{}\" is not a duration: {}", value, duration_forms);
            },
            ""};
}

CLI::Validator duration_or_zero() {
    return {[](std::string& value) -> std::string {
                return value == "0" || parse_duration(value)
                           ? ""
                           : fmt::format("\"{}\" is not a duration: {}, or 0", value,
                                         duration_forms);
            },
            ""};
}

}  // namespace edgegpu
