import RichPushModel

/// The testing library has a type of the same name.
typealias Tag = RichPushModel.Tag
