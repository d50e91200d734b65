import LocalCertificates
import Testing

@Suite("An authority of this machine")
struct LocalCertificateAuthorityTests {
    @Test("an authority that does not fit together is refused")
    func badAuthority() throws {
        let (one, two) = (try LocalCertificateAuthority.create(), try LocalCertificateAuthority.create())
        #expect(throws: LocalAuthorityError.self) {
            try LocalCertificateAuthority.load(certificatePEM: one.certificatePEM, privateKeyPEM: two.privateKeyPEM)
        }
        #expect(throws: LocalAuthorityError.self) {
            try LocalCertificateAuthority.load(certificatePEM: "nothing", privateKeyPEM: one.privateKeyPEM)
        }
    }

    @Test("an authority that cannot be read says what is wrong, and nothing of its key")
    func explained() throws {
        let (one, two) = (try LocalCertificateAuthority.create(), try LocalCertificateAuthority.create())
        let error = #expect(throws: LocalAuthorityError.self) {
            try LocalCertificateAuthority.load(certificatePEM: one.certificatePEM, privateKeyPEM: two.privateKeyPEM)
        }
        #expect(
            error?.description
                == "The stored certificate authority cannot be read: certificate and key do not belong together.")
    }
}
