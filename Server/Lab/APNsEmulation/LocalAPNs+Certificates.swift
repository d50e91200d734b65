extension LocalAPNs {
    /// Issues a client certificate with Apple's extensions, signed by the authority of this emulator (Reference/APNs.md#2-4).
    /// Throws `LocalAPNsError`.
    public func issueClientCertificate(_ request: ClientCertificateRequest) throws -> IssuedCertificate {
        let issued = try authority.issueClientCertificate(request, now: core.clock.now)
        if let number = CertificateSerialNumber.canonical(issued.serialNumber) {
            core.state.withLockedValue { _ = $0.issuedCertificates.insert(number) }
        }
        return issued
    }

    /// Whether this emulator issued a client certificate with this serial number since it began.
    public func hasIssued(serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return false }
        return core.state.withLockedValue { $0.issuedCertificates.contains(number) }
    }

    /// Refuses a client certificate in the handshake from now on.
    ///
    /// - Parameter serialNumber: capital or small letters, with or without colons and leading zeros.
    /// - Returns: `false` for a text that is no serial number.
    @discardableResult
    public func revokeCertificate(serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return false }
        core.state.withLockedValue { state in
            if state.revokedCertificates.insert(number).inserted { state.keptRevision += 1 }
        }
        return true
    }

    /// Whether two texts are the same serial number.
    public static func isSameSerialNumber(_ left: String, _ right: String) -> Bool {
        guard let left = CertificateSerialNumber.canonical(left) else { return false }
        return left == CertificateSerialNumber.canonical(right)
    }
}

extension ServiceState {
    /// Whether a client certificate is refused in the handshake.
    func isRevoked(_ serialNumber: String) -> Bool {
        guard let number = CertificateSerialNumber.canonical(serialNumber) else { return true }
        return revokedCertificates.contains(number)
    }
}
