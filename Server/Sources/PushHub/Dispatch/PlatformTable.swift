import RichPushModel

/// The platforms of a page, each once. Mostly there is one.
struct PlatformTable: Sendable {
    /// Where a platform stands.
    struct Place: Hashable, Sendable { fileprivate var number: Int }

    private var platforms: [Platform] = []

    /// Puts the platform in, unless it is there. Targets of one page that lie together mostly have the same: the last is looked at first.
    mutating func place(of platform: Platform) -> Place {
        if let known = platforms.lastIndex(of: platform) { return Place(number: known) }
        platforms.append(platform)
        return Place(number: platforms.count - 1)
    }

    subscript(place: Place) -> Platform { platforms[place.number] }
}
