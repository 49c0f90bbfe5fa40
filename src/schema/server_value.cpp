#include "schema/server_value.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

json decode_number(const json& number) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (number.is_number_unsigned()) {
        const auto value = number.get<std::uint64_t>();
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return static_cast<double>(value);
        }
        return static_cast<std::int64_t>(value);
    }
    if (number.is_number_float()) {
        const auto value = number.get<double>();
        if (value >= -limit && value < limit && std::trunc(value) == value) {
            return static_cast<std::int64_t>(value);
        }
    }
    return number;
}

/// Copies values, and notes what is wrong with them.
class Decoder {
public:
    /// Null for what there is a problem with.
    json decode(const json& value) {
        if (path_.size() > max_object_depth) {
            report(fmt::format("objects and lists are nested more than {} deep", max_object_depth));
            return nullptr;
        }
        switch (value.type()) {
            case json::value_t::object:
                return decode_object(value);
            case json::value_t::array:
                return decode_list(value);
            case json::value_t::string:
                if (!is_utf8(value.get_ref<const std::string&>())) {
                    report("is not UTF-8");
                    return nullptr;
                }
                return value;
            case json::value_t::binary:
            case json::value_t::discarded:
                report("is not a JSON value");
                return nullptr;
            default:
                return value.is_number() ? decode_number(value) : value;
        }
    }

    std::vector<SchemaProblem> take_problems() { return std::move(problems_); }

private:
    json decode_object(const json& object) {
        json decoded = json::object();
        for (const auto& [key, member] : object.items()) {
            if (key.size() > max_key_size) {
                report(
                    fmt::format("a key has {} bytes; {} is the limit", key.size(), max_key_size));
                continue;
            }
            if (!is_utf8(key)) {
                report(fmt::format("the key {} is not UTF-8", quoted_text(key)));
                continue;
            }
            path_.emplace_back(key);
            decoded.emplace(key, decode(member));
            path_.pop_back();
        }
        return decoded;
    }

    json decode_list(const json& list) {
        json decoded = json::array();
        decoded.get_ref<json::array_t&>().reserve(list.size());
        for (const json& item : list) {
            path_.emplace_back(decoded.size());
            decoded.push_back(decode(item));
            path_.pop_back();
        }
        return decoded;
    }

    void report(const std::string& text) { problems_.push_back(problem_at(path_, text)); }

    ObjectPath path_;
    std::vector<SchemaProblem> problems_;
};

}  // namespace

ServerValue read_as_server(const json& object) {
    Decoder decoder;
    ServerValue read;
    read.value = decoder.decode(object);
    read.problems = decoder.take_problems();
    return read;
}

}  // namespace edgegpu
