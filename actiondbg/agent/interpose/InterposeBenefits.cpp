//===- InterposeBenefits.cpp - The order of patterns ----------------------===//

#include "engine/Engine.h"
#include "interpose/Benefits.h"
#include "interpose/Interpose.h"

#include "mlir/Rewrite/PatternApplicator.h"

using namespace adbg;

/// Whether a dialect conversion runs, whose applicators have a cost model of
/// their own and are in use by several patterns at a time.
static bool isConverting(const Engine &engine) {
  const Frame *frame = engine.innermost;
  return frame && (frame->isConversion() || frame->conversion);
}

void adbg::orderAnew(PatternApplicator &applicator, Engine &engine) {
  if (!isConverting(engine) && engine.alternative->isOutdated(&applicator))
    applicator.applyCostModel(
        [](const Pattern &pattern) { return pattern.getBenefit(); });
}

/// A benefit for the opposite order of patterns with the same one: `count` is
/// the number of the pattern, and each order of benefits is kept.
static PatternBenefit reversed(PatternBenefit benefit, unsigned count) {
  constexpr unsigned range = 256;
  if (benefit.isImpossibleToMatch() || benefit.getBenefit() >= range - 1)
    return benefit;
  return PatternBenefit(benefit.getBenefit() * range + count % range);
}

extern "C++" {

using CostModel = function_ref<PatternBenefit(const Pattern &)>;

ADBG_INTERPOSE(void, applyCostModel, ADBG_COST_MODEL, PatternApplicator *self,
               CostModel model) {
  static Original<decltype(applyCostModel)> next(ADBG_COST_MODEL);
  Engine &engine = Engine::get();
  if (Recorder::reversesPatterns() && engine.follows() &&
      !isConverting(engine)) {
    unsigned count = 0;
    return next(self, [&](const Pattern &pattern) {
      return reversed(model(pattern), count++);
    });
  }
  if (!engine.alternative || !engine.follows())
    return next(self, model);
  Alternative &alternative = *engine.alternative;
  bool inConversion = isConverting(engine);
  alternative.noteOrdered(self);
  next(self, [&](const Pattern &pattern) {
    alternative.setBenefit(pattern);
    return alternative.benefitOf(pattern, model(pattern), inConversion);
  });
}

} // extern "C++"
