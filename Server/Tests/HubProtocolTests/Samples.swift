import RichPushModel

@testable import HubProtocol

/// Documents of Reference/AzureNotificationHubs.md#2-1, written out from there.
enum Samples {
    static let morning = Timestamp(milliseconds: 1_772_359_200_000)

    /// A location below `https://push.example.test/demo`.
    static func location(_ collection: String, version: String = "2020-06") -> LocationHeader {
        let route = HubRoute(
            operation: .registration, hub: "demo", hubSpelling: "demo", collectionSpelling: collection, id: nil)
        return LocationHeader(authority: "push.example.test", fallback: "fallback.test", route: route, apiVersion: version)
    }

    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"

    static let canonicalDescription = #"""
        <AppleTemplateRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>7481203-1183-2</RegistrationId><Tags>city:Oslo,vip</Tags><DeviceToken>0A1B2C3D</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(text)"}}]]></BodyTemplate><Expiry>$(until)</Expiry><TemplateName>short</TemplateName></AppleTemplateRegistrationDescription>
        """#

    static let canonicalEntry = #"""
        <entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>https://push.example.test/demo/registrations/7481203-1183-2?api-version=2020-06</id><title type="text">7481203-1183-2</title><published>2026-03-01T10:00:00Z</published><updated>2026-03-01T10:00:00Z</updated><link rel="self" href="https://push.example.test/demo/registrations/7481203-1183-2?api-version=2020-06"/><content type="application/xml"><AppleTemplateRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>7481203-1183-2</RegistrationId><Tags>city:Oslo,vip</Tags><DeviceToken>0A1B2C3D</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(text)"}}]]></BodyTemplate><Expiry>$(until)</Expiry><TemplateName>short</TemplateName></AppleTemplateRegistrationDescription></content></entry>
        """#

    static let canonical = RegistrationDescription(
        .apple, handle: "0A1B2C3D",
        template: RegistrationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#, name: "short", expiry: "$(until)"),
        registrationID: "7481203-1183-2", etag: "1", tags: ["city:Oslo", "vip"])

    /// What .NET sends: the type as an attribute, nulls, an empty collection (Reference/AzureNotificationHubs.md#2-1).
    static let typedEntry = #"""
        <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="AppleTemplateRegistrationDescription" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag><ExpirationTime i:nil="true" /><RegistrationId i:nil="true" /><Tags>city:Oslo,vip</Tags><DeviceToken>0a1b2c3d</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(text)"}}]]></BodyTemplate><Expiry i:nil="true" /><TemplateName>short</TemplateName><Priority i:nil="true" /><ApnsHeaders /></RegistrationDescription></content></entry>
        """#

    /// An entry around a description, as most clients send it.
    static func entry(_ description: String) -> [UInt8] {
        Array(
            "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">\(description)</content></entry>".utf8
        )
    }

    /// A description element with these children.
    static func description(_ name: String, _ children: String) -> String {
        "<\(name) xmlns=\"\(serviceBus)\" xmlns:i=\"\(instance)\">\(children)</\(name)>"
    }
}
