// View (f): time by the number of ranks or the size of a message, for all algorithms of the primitive.

class CostView {
  constructor(costs, data, into) {
    Object.assign(this, { costs, data, into });
    into.replaceChildren(html("p", { class: "hint" }, "not yet"));
  }
}
