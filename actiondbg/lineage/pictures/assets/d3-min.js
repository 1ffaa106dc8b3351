"use strict";
// The functions of d3-array that d3-sankey uses.
const numbers = (values, value) =>
  [...values].map(value ?? ((one) => one)).filter((one) => one != null && !Number.isNaN(one));
globalThis.d3 = {
  max: (values, value) => numbers(values, value).reduce((a, b) => (a === undefined || b > a ? b : a), undefined),
  min: (values, value) => numbers(values, value).reduce((a, b) => (a === undefined || b < a ? b : a), undefined),
  sum: (values, value) => numbers(values, value).reduce((a, b) => a + b, 0),
};
