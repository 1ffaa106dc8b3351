"use strict";
// The functions of d3-array that d3-sankey uses.
(() => {
  const numbers = (values, value) =>
    [...values].map(value ?? ((one) => one)).filter((one) => one != null && !Number.isNaN(one));
  const best = (values, value, isBetter) =>
    numbers(values, value).reduce(
      (a, b) => (a === undefined || isBetter(b, a) ? b : a), undefined);
  globalThis.d3 = {
    max: (values, value) => best(values, value, (b, a) => b > a),
    min: (values, value) => best(values, value, (b, a) => b < a),
    sum: (values, value) => numbers(values, value).reduce((a, b) => a + b, 0),
  };
})();
