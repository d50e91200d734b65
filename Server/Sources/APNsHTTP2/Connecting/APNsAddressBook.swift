import NIOCore

/// What is known of the addresses behind APNs' name, and which one is next (Reference/APNs.md#1-2): the least used healthy one.
///
/// A value without I/O. `Address` is a socket address; tests use strings.
struct APNsAddressBook<Address: Hashable> {
    private struct Record {
        /// Connections that live there.
        var uses = 0
        /// Failures in a row.
        var failures = 0
        var avoidedUntil = NIODeadline.uptimeNanoseconds(0)
        /// Rises with each choice, so that equals take turns.
        var lastChoice: UInt64 = 0
    }

    /// After one failure; doubles up to the longest.
    static var firstAvoidance: TimeAmount { .seconds(30) }
    static var longestAvoidance: TimeAmount { .minutes(10) }
    /// After a GOAWAY: the server behind this address wants fewer connections now.
    static var goAwayAvoidance: TimeAmount { .minutes(5) }
    /// Beyond this many, addresses that DNS no longer names and no connection uses are forgotten.
    static var capacity: Int { 256 }

    private var records: [Address: Record] = [:]
    private var choices: UInt64 = 0

    /// How many addresses are remembered.
    var count: Int { records.count }

    /// The best of the resolved addresses, not counting those that were tried already; `nil` when all were tried.
    ///
    /// Every address that is avoided is still better than none: then the one whose time is up first is taken.
    mutating func choose(from resolved: [Address], except tried: Set<Address> = [], at now: NIODeadline) -> Address? {
        let candidates = resolved.filter { !tried.contains($0) }
        let best = candidates.min { rank($0, at: now) < rank($1, at: now) }
        guard let best else { return nil }
        choices += 1
        records[best, default: Record()].lastChoice = choices
        forget(except: resolved)
        return best
    }

    /// A connection to the address was made; it counts as used until `closed`.
    mutating func connected(_ address: Address) { records[address, default: Record()].uses += 1 }

    /// A connection there proved useful.
    mutating func succeeded(_ address: Address) { records[address]?.failures = 0 }

    mutating func closed(_ address: Address) {
        if let uses = records[address]?.uses, uses > 0 { records[address]?.uses = uses - 1 }
    }

    /// No connection could be made there, or it was of no use.
    mutating func failed(_ address: Address, at now: NIODeadline) {
        var record = records[address, default: Record()]
        let doubled = Self.firstAvoidance.nanoseconds << Int64(min(record.failures, 10))
        record.failures += 1
        record.avoidedUntil = max(record.avoidedUntil, now + .nanoseconds(min(doubled, Self.longestAvoidance.nanoseconds)))
        records[address] = record
    }

    /// The server there sent GOAWAY.
    mutating func saidGoAway(_ address: Address, at now: NIODeadline) {
        let until = now + Self.goAwayAvoidance
        records[address, default: Record()].avoidedUntil = max(records[address]?.avoidedUntil ?? until, until)
    }

    private func rank(_ address: Address, at now: NIODeadline) -> (UInt64, Int, UInt64) {
        guard let record = records[address] else { return (0, 0, 0) }
        let avoided = record.avoidedUntil > now ? record.avoidedUntil.uptimeNanoseconds : 0
        return (avoided, record.uses, record.lastChoice)
    }

    private mutating func forget(except resolved: [Address]) {
        guard records.count > Self.capacity else { return }
        let keep = Set(resolved)
        records = records.filter { $0.value.uses > 0 || keep.contains($0.key) }
    }
}

/// The order in which addresses of both families are tried.
enum AddressFamilies {
    /// The families take turns, beginning with the family of the first (RFC 8305, 4), so that one that leads nowhere costs one attempt
    /// and not one for each of its addresses. Within a family the order stays.
    static func alternating<Address>(_ addresses: [Address], isIPv6: (Address) -> Bool) -> [Address] {
        guard let first = addresses.first else { return [] }
        let isFirstIPv6 = isIPv6(first)
        let preferred = addresses.filter { isIPv6($0) == isFirstIPv6 }
        let others = addresses.filter { isIPv6($0) != isFirstIPv6 }
        var result: [Address] = []
        result.reserveCapacity(addresses.count)
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }
}
