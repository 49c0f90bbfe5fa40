#include "execution/program_record.hpp"

#include <utility>
#include <vector>

namespace edgegpu {

void ProgramRecord::write() const noexcept {
    try {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began_;
        std::vector<LogField> fields{
            {"argv", request_.inner_argv.empty() ? request_.argv : request_.inner_argv}};
        if (!request_.purpose.empty()) {
            fields.push_back({"of", request_.purpose});
        }
        if (!request_.inner_root.empty()) {
            fields.push_back({"root", request_.inner_root});
        }
        if (!request_.cwd.empty()) {
            fields.push_back({"directory", request_.cwd.string()});
        }
        fields.push_back({"seconds", time.count()});
        if (status_) {
            fields.push_back({"status", *status_});
        }
        if (!status_ || reason_ != Ended::normally) {
            fields.push_back({"ended_by", !status_ ? "edgegpu" : "limit"});
        }
        fields.push_back({"output_bytes", output_.total()});
        fields.push_back({"output", output_.text()});
        log_.debug("program", std::move(fields));
    } catch (...) {
        return;  // no memory for it: the program's own result counts
    }
}

}  // namespace edgegpu
