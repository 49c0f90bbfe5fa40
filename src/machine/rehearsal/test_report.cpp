#include "machine/rehearsal/test_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <glib.h>
#include <nlohmann/json.hpp>

#include "support/handles.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t short_checksum = 12;
/// A longer name moves only its own text.
constexpr std::size_t widest_name = 40;
/// Of a failed check's details on the terminal; the documents have all.
constexpr std::size_t most_detail_lines = 100;

/// Valid UTF-8 without control characters, on one line.
std::string clean_line(const std::string& text) {
    const Handle<gchar, g_free> valid(
        g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
    return printable_line(valid.get());
}

std::string title_of(const Phase& phase) {
    const std::string commit = phase.commit.substr(0, short_checksum);
    return phase.name == "before-upgrade"    ? fmt::format("before the upgrade: {}", commit)
           : phase.name == "before-rollback" ? fmt::format("before the rollback: {}", commit)
           : phase.name == "upgrade"         ? fmt::format("upgrade to {}", commit)
           : phase.name == "next-boot"       ? fmt::format("next boot of {}", commit)
           : phase.name == "rollback"        ? fmt::format("rollback to {}", commit)
                                             : fmt::format("{} of {}", phase.name, commit);
}

std::string verdict_column(Verdict verdict, bool colored) {
    const auto column = [&](const char* word, const char* color) {
        return colored ? fmt::format("\033[{}m{:<7}\033[0m", color, word)
                       : fmt::format("{:<7}", word);
    };
    switch (verdict) {
        case Verdict::passed:
            return column("ok", "32");
        case Verdict::failed:
            return column("FAILED", "31;1");
        case Verdict::skipped:
            return column("skipped", "33");
    }
    return "";
}

/// The last lines: causes are mostly there.
std::string details_text(const std::vector<std::string>& details) {
    std::string text;
    std::size_t at = 0;
    if (details.size() > most_detail_lines) {
        at = details.size() - most_detail_lines;
        text = fmt::format("          ({} before)\n", counted(at, "line"));
    }
    for (; at < details.size(); ++at) {
        text += fmt::format("          {}\n", clean_line(details[at]));
    }
    return text;
}

const char* firmware_name(Firmware firmware) {
    return firmware == Firmware::uefi ? "uefi" : "bios";
}

/// A character that XML 1.0 has, beside those that `clean_line` leaves: U+FFFE and U+FFFF are none.
std::string xml_text(const std::string& text) {
    std::string escaped;
    const std::string clean = clean_line(text);
    for (std::size_t at = 0; at < clean.size(); ++at) {
        const char c = clean[at];
        const std::string_view three = std::string_view(clean).substr(at, 3);
        if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
            escaped += "\xEF\xBF\xBD";
            at += 2;
        } else if (c == '&') {
            escaped += "&amp;";
        } else if (c == '<') {
            escaped += "&lt;";
        } else if (c == '>') {
            escaped += "&gt;";
        } else if (c == '"') {
            escaped += "&quot;";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

std::string xml_details(const CheckResult& result) {
    std::string text;
    for (const std::vector<std::string>* lines : {&result.notes, &result.details}) {
        for (const std::string& line : *lines) {
            text += xml_text(line) + '\n';
        }
    }
    return text;
}

std::string xml_case(const std::string& suite, const CheckResult& result) {
    std::string text = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}")", suite,
                                   xml_text(result.name), result.seconds);
    switch (result.verdict) {
        case Verdict::passed:
            return text + fmt::format(">\n      <system-out>{}\n{}</system-out>\n    </testcase>\n",
                                      xml_text(result.text), xml_details(result));
        case Verdict::failed:
            return text +
                   fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                               xml_text(result.text), xml_details(result));
        case Verdict::skipped:
            return text + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                                      xml_text(result.text));
    }
    return text;
}

std::size_t count_of(const Phase& phase, Verdict verdict) {
    return static_cast<std::size_t>(
        std::ranges::count(phase.results, verdict, &CheckResult::verdict));
}

}  // namespace

std::string rehearsal_text(const Rehearsal& rehearsal, bool colored) {
    std::string text = fmt::format(
        "{} at {}{}\nmachine: {} firmware, {}\n", clean_line(rehearsal.ref),
        rehearsal.commit.substr(0, short_checksum),
        rehearsal.from.empty() ? "" : ", from " + rehearsal.from.substr(0, short_checksum),
        rehearsal.firmware == Firmware::uefi ? "UEFI" : "BIOS", clean_line(rehearsal.accelerator));
    for (const Phase& phase : rehearsal.phases) {
        std::size_t width = 0;
        for (const CheckResult& result : phase.results) {
            width = std::max(width, std::min(clean_line(result.name).size(), widest_name));
        }
        text += fmt::format("\n{} ({:.0f} s)\n", title_of(phase), phase.seconds);
        for (const CheckResult& result : phase.results) {
            text += fmt::format("  {} {:<{}}  {}\n", verdict_column(result.verdict, colored),
                                clean_line(result.name), width, clean_line(result.text));
            for (const std::string& line : result.notes) {
                text += fmt::format("          {}\n", clean_line(line));
            }
            if (result.verdict == Verdict::failed) {
                text += details_text(result.details);
            }
        }
    }
    text += fmt::format("\n{} passed, {} failed, {} skipped\n", rehearsal.count(Verdict::passed),
                        rehearsal.count(Verdict::failed), rehearsal.count(Verdict::skipped));
    return text;
}

std::string rehearsal_json(const Rehearsal& rehearsal) {
    ordered_json phases = ordered_json::array();
    for (const Phase& phase : rehearsal.phases) {
        const ordered_json checks =
            mapped(phase.results, [](const CheckResult& result) -> ordered_json {
                return {{"name", result.name},       {"verdict", enum_name(result.verdict)},
                        {"text", result.text},       {"notes", result.notes},
                        {"details", result.details}, {"seconds", result.seconds}};
            });
        phases.push_back({{"name", phase.name},
                          {"commit", phase.commit},
                          {"seconds", phase.seconds},
                          {"checks", checks}});
    }
    const ordered_json records = mapped(
        rehearsal.records, [](const std::filesystem::path& record) { return record.string(); });
    const ordered_json document = {{"format", "edgegpu-test/1"},
                                   {"repository", rehearsal.repository},
                                   {"ref", rehearsal.ref},
                                   {"commit", rehearsal.commit},
                                   {"from", rehearsal.from},
                                   {"firmware", firmware_name(rehearsal.firmware)},
                                   {"accelerator", rehearsal.accelerator},
                                   {"passed", rehearsal.count(Verdict::passed)},
                                   {"failed", rehearsal.count(Verdict::failed)},
                                   {"skipped", rehearsal.count(Verdict::skipped)},
                                   {"phases", phases},
                                   {"records", records}};
    // In ASCII: of what drives terminals, UTF-8 has some characters beyond those that JSON escapes.
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

std::string rehearsal_junit(const Rehearsal& rehearsal) {
    std::size_t tests = 0;
    double seconds = 0;
    std::string suites;
    for (const Phase& phase : rehearsal.phases) {
        tests += phase.results.size();
        seconds += phase.seconds;
        const std::string name = xml_text("edgegpu." + phase.name);
        suites += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
            "time=\"{:.3f}\">\n    <properties>\n      <property name=\"commit\" value=\"{}\"/>\n"
            "    </properties>\n",
            name, phase.results.size(), count_of(phase, Verdict::failed),
            count_of(phase, Verdict::skipped), phase.seconds, xml_text(phase.commit));
        for (const CheckResult& result : phase.results) {
            suites += xml_case(name, result);
        }
        suites += "  </testsuite>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
        xml_text(rehearsal.ref), tests, rehearsal.count(Verdict::failed),
        rehearsal.count(Verdict::skipped), seconds, suites);
}

}  // namespace edgegpu
