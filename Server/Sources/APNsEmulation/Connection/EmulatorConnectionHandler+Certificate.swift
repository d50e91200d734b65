import APNsProtocol
import NIOCore
import NIOHTTP2
import NIOSSL

extension EmulatorConnectionHandler {
    /// The handshake is over: a client certificate is judged (Reference/APNs.md#7-2-2).
    func finishHandshake() {
        let handler = try? context?.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        guard let shown = handler?.peerCertificate, let bytes = try? shown.toDERBytes(), let certificate = authority.read(bytes)
        else { return }
        credentials.certificate = certificate
        let rules = core.rules
        if rules.expiredCertificate == .goAway, !certificate.isValid(at: core.clock.now) {
            turnAway(.badCertificate)
        } else if rules.certificateEnvironment == .goAway, !certificate.environments.contains(core.configuration.environment) {
            turnAway(.badCertificateEnvironment)
        } else if rules.raisesLimitForCertificates, rules.concurrentStreams != limit.announced {
            announce(rules.concurrentStreams)
            flush()
        }
    }

    private func turnAway(_ reason: APNsReason) {
        startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(reason)), last: 0)
        flush()
    }
}
