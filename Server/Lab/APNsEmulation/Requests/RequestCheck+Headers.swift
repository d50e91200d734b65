import APNsProtocol

/// The syntax of the headers (Reference/APNs.md#7-2-14 and #7-2-16).
extension RequestCheck {
    static let duplicateHeaders = RequestCheck(.duplicateHeaders) { evidence in
        evidence.request.head.hasDuplicates ? APNsRefusal(400, .duplicateHeaders) : nil
    }

    static let apnsID = RequestCheck(.apnsID) { evidence in
        guard let id = evidence.request.head.apnsID else { return nil }
        return APNsText.isUUID(id) ? nil : APNsRefusal(400, .badMessageID)
    }

    /// Whole seconds since 1970, not negative; digits alone, since `Int64` would let a sign through.
    static let expiration = RequestCheck(.expiration) { evidence in
        guard let text = evidence.request.head.expiration else { return nil }
        let digits = !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return digits && Int64(text) != nil ? nil : APNsRefusal(400, .badExpirationDate)
    }

    static let priority = RequestCheck(.priority) { evidence in
        switch evidence.request.head.priority {
        case nil, "10", "5", "1": nil
        default: APNsRefusal(400, .badPriority)
        }
    }

    static let collapseID = RequestCheck(.collapseID) { evidence in
        guard let id = evidence.request.head.collapseID else { return nil }
        return id.utf8.count <= 64 ? nil : APNsRefusal(400, .badCollapseID)
    }

    static let pushType = RequestCheck(.pushType) { evidence in
        guard let type = evidence.pushType else {
            return evidence.rules.missingPushType == .refuse ? APNsRefusal(400, .invalidPushType) : nil
        }
        return APNsPushType.documented.contains(type) ? nil : APNsRefusal(400, .invalidPushType)
    }

    /// An absent priority means 10 (Reference/APNs.md#3-2), which a background push may not have; only the explicit form is
    /// described as an error, so only that one is refused.
    static let backgroundPriority = RequestCheck(.backgroundPriority) { evidence in
        guard evidence.rules.backgroundAtPriorityTen == .refuse, evidence.pushType == .background else { return nil }
        return evidence.request.head.priority == "10" ? APNsRefusal(400, evidence.rules.backgroundPriorityReason) : nil
    }
}
