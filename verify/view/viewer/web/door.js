// View (i): plans that are dropped on the page.

class Door {
  constructor(into, card) {
    card.hidden = true;
  }
}
