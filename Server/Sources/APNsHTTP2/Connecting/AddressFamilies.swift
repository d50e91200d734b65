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
