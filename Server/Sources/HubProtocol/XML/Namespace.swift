/// The namespaces of the protocol (Reference/AzureNotificationHubs.md#2-0).
enum Namespace {
    static let atom = "http://www.w3.org/2005/Atom"
    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let arrays = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"
}
