import APNsProtocol

/// The certificate (Reference/APNs.md#7-2-2) of a client whose connection was not ended for it.
extension RequestCheck {
    static let certificateDates = RequestCheck(.certificateDates) { evidence in
        guard let certificate = evidence.certificate else { return nil }
        return certificate.isValid(at: evidence.now) ? nil : APNsRefusal(403, .badCertificate)
    }

    static let certificateEnvironment = RequestCheck(.certificateEnvironment) { evidence in
        guard let certificate = evidence.certificate else { return nil }
        let isRight = certificate.environments.contains(evidence.environment)
        return isRight ? nil : APNsRefusal(403, .badCertificateEnvironment)
    }
}
