/// The newest entries of a list, oldest first.
struct BoundedList<Element: Sendable>: Sendable {
    let capacity: Int
    private(set) var elements: [Element] = []

    init(capacity: Int) { self.capacity = max(0, capacity) }

    mutating func append(_ element: Element) {
        guard capacity > 0 else { return }
        // A tenth more is kept and then cut off, so that most additions move nothing.
        if elements.count >= capacity + capacity / 10 + 1 { elements.removeFirst(elements.count - capacity + 1) }
        elements.append(element)
    }

    /// Changes the newest entry that fulfils a condition.
    mutating func changeLast(where matches: (Element) -> Bool, _ change: (inout Element) -> Void) {
        guard let index = elements.lastIndex(where: matches) else { return }
        change(&elements[index])
    }

    mutating func clear() { elements.removeAll() }
}
