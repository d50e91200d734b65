import RichPushModel

extension SharedAccessSignature {
    /// The keys that are tried at least, so that an unknown rule takes the time of a known one, at the hub and for all hubs.
    private static let leastAttempts = 4
    private static let decoy = SharedAccessKey.random()

    /// Reads and verifies the header of a request in one step.
    public static func verify(
        header: String?, for request: SharedAccessRequest, rules: [AccessRule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        do throws(SharedAccessFault) {
            return try SharedAccessSignature(header: header).verify(for: request, rules: rules)
        } catch {
            return .failure(error)
        }
    }

    /// Decides whether the token admits the request (Reference/AzureNotificationHubs.md#1-4), given the rules of the hub and of
    /// all hubs.
    ///
    /// Only who holds a key learns more than "invalid signature": expiry and audience are looked at after the signature.
    public func verify(for request: SharedAccessRequest, rules: [AccessRule]) -> Result<AccessGrant, SharedAccessFault> {
        guard let grant = signingGrant(among: rules) else { return .failure(.invalidSignature) }
        return admission(of: request, with: grant, address: SharedAccessAudience(encoded: audience))
    }

    /// What is decided for each request anew once the signature is known to be good.
    func admission(
        of request: SharedAccessRequest, with grant: AccessGrant, address: SharedAccessAudience?
    ) -> Result<AccessGrant, SharedAccessFault> {
        guard request.now < expiresAt + Self.tolerance else { return .failure(.expiredToken) }
        guard let address, address.admits(hosts: request.hosts, path: request.path) else { return .failure(.invalidAudience) }
        return .success(grant)
    }

    /// Every key of every rule of that name is tried, whether or not one fitted before.
    func signingGrant(among rules: [AccessRule]) -> AccessGrant? {
        var grant: AccessGrant?
        var attempts = 0
        for rule in rules where rule.name == ruleName {
            for (key, isSecondary) in [(rule.primary, false), (rule.secondary, true)] {
                attempts += 1
                if fits(key), grant == nil {
                    grant = AccessGrant(rule: rule.name, rights: rule.rights, usedSecondaryKey: isSecondary)
                }
            }
        }
        while attempts < Self.leastAttempts {
            _ = fits(Self.decoy)
            attempts += 1
        }
        return grant
    }

    private func fits(_ key: SharedAccessKey) -> Bool {
        ConstantTime.equal(key.signature(audience: audience, expiry: expiry), code)
    }
}
