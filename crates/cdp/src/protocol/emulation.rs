//! Domain `Emulation`: screens and user agents.

use super::Nothing;
use super::macros::{commands, known, objects};

objects! {
    /// What client hints say.
    UserAgentMetadata {
        /// The name of the system.
        platform: String,
        /// Its version.
        platform_version: String,
        /// The architecture of the processor.
        architecture: String,
        /// The device.
        model: String,
        /// Whether it prefers pages for telephones.
        mobile: bool,
        ;
        /// What the browser is, in names and versions.
        brands: Vec<UserAgentBrandVersion>,
    }
    /// A name and a version.
    UserAgentBrandVersion {
        /// The name.
        brand: String,
        /// The version.
        version: String,
    }
}

commands! {
    /// Sets the size of the viewport.
    "Emulation.setDeviceMetricsOverride" SetDeviceMetricsOverride {
        /// CSS pixels.
        width: u32,
        /// CSS pixels.
        height: u32,
        /// Device pixels to a CSS pixel; 0 for the default.
        device_scale_factor: f64,
        /// Whether it behaves as a telephone.
        mobile: bool,
    } -> Nothing;
    /// Undoes [`SetDeviceMetricsOverride`].
    "Emulation.clearDeviceMetricsOverride" ClearDeviceMetricsOverride {} -> Nothing;
    /// Behaves as if the page had the focus.
    "Emulation.setFocusEmulationEnabled" SetFocusEmulationEnabled {
        /// On or off.
        enabled: bool,
    } -> Nothing;
    /// Sets the user agent.
    "Emulation.setUserAgentOverride" SetUserAgentOverride {
        /// The header and `navigator.userAgent`.
        user_agent: String,
        ;
        /// `navigator.language` and the header.
        accept_language: String,
        /// `navigator.platform`.
        platform: String,
        /// Client hints; in pages none are sent when it is absent.
        user_agent_metadata: UserAgentMetadata,
    } -> Nothing;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
