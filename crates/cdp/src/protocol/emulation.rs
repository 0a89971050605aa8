//! Domain `Emulation`: screens and user agents.

use super::Nothing;
use super::macros::{commands, known};

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
    } -> Nothing;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
