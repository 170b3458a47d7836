// The templates that a parser tries, the ones that fit most often first.
//
// A fleet has a few kinds of readings; where each record is of another kind, learning costs more than it
// gives. So it is paid for: by the records that a template read, and by some of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "payload/json_template.h"

namespace hourfold {

class TemplateSet {
 public:
  // False: none of them knows the record.
  bool read(std::string_view text, JsonTemplate::Fields& fields, std::vector<Metric>& metrics) {
    if (credit_ < kPriceOfLearning && ++tries_ % kRareTries != 0) return false;
    for (std::size_t i = 0; i < templates_.size(); ++i) {
      if (!templates_[i]->read(text, fields, metrics)) continue;
      credit_ = std::min(credit_ + 1, kMaxCredit);
      if (i > 0) std::swap(templates_[i], templates_[i - 1]);
      return true;
    }
    if (credit_ < kPriceOfLearning) credit_ += kPriceOfLearning;
    return false;
  }

  bool may_learn() const { return credit_ >= kPriceOfLearning; }
  // Null: what there was to learn is no template.
  void learned(std::unique_ptr<JsonTemplate> fresh) {
    credit_ -= kPriceOfLearning;
    if (!fresh) return;
    if (templates_.size() == kMaxTemplates) templates_.pop_back();
    templates_.push_back(std::move(fresh));
  }

 private:
  static constexpr std::size_t kMaxTemplates = 4;
  static constexpr int kPriceOfLearning = 8;  // in records that a template saves the work of
  static constexpr int kMaxCredit = 1024;
  static constexpr unsigned kRareTries = 16;

  std::vector<std::unique_ptr<JsonTemplate>> templates_;
  int credit_ = 64;
  unsigned tries_ = 0;
};

}  // namespace hourfold
