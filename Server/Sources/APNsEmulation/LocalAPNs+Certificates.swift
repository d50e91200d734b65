extension LocalAPNs {
    /// Issues a client certificate with Apple's extensions, signed by the authority of this emulator (APNs reference 2.4).
    /// Throws `LocalAPNsError`.
    public func issueClientCertificate(_ request: ClientCertificateRequest) throws -> IssuedCertificate {
        try authority.issueClientCertificate(request, now: core.clock.now)
    }

    /// Refuses a client certificate in the handshake from now on.
    public func revokeCertificate(serialNumber: String) {
        core.state.withLockedValue { _ = $0.revokedCertificates.insert(serialNumber) }
    }
}
