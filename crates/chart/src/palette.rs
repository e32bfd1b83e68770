//! The colours of series, for light and dark backgrounds.

/// A colour for a light and for a dark background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour {
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

/// One per series. Any two are distinguishable with each kind of colour blindness, and from the background.
pub(crate) const SERIES: [Colour; 6] = [
    Colour { light: "#1f6fb2", dark: "#5fa8ec" },
    Colour { light: "#af8f06", dark: "#f5ea7d" },
    Colour { light: "#0b4f43", dark: "#c4f5c8" },
    Colour { light: "#b65980", dark: "#d29db5" },
    Colour { light: "#b54928", dark: "#f57f2c" },
    Colour { light: "#2b1d52", dark: "#91a169" },
];

/// The colour of combined series.
pub(crate) const REST: Colour = Colour { light: "#868e93", dark: "#8a959b" };
pub(crate) const INK: Colour = Colour { light: "#22272b", dark: "#e8e6e1" };
pub(crate) const SOFT: Colour = Colour { light: "#5d666d", dark: "#a2abb0" };
pub(crate) const GRID: Colour = Colour { light: "#e4e0d6", dark: "#333c40" };
pub(crate) const EDGE: Colour = Colour { light: "#85898a", dark: "#758086" };
pub(crate) const GROUND: Colour = Colour { light: "#ffffff", dark: "#1c2225" };

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// Perceived colours with normal vision and three kinds of colour blindness (Machado, Oliveira and Fernandes 2009).
    const SIGHTS: [[Rgb; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn linear(colour: &str) -> Rgb {
        [1, 3, 5].map(|at| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or_default()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn dot(row: &Rgb, rgb: &Rgb) -> f64 {
        row.iter().zip(rgb).map(|(one, other)| one * other).sum()
    }

    fn luminance(rgb: &Rgb) -> f64 {
        dot(&[0.2126, 0.7152, 0.0722], rgb)
    }

    fn lab(rgb: &Rgb) -> Rgb {
        let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = f(dot(&[0.4124, 0.3576, 0.1805], rgb).max(0.0) / 0.9505);
        let y = f(luminance(rgb).max(0.0));
        let z = f(dot(&[0.0193, 0.1192, 0.9505], rgb).max(0.0) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn check(ground: &str, colours: &[&str]) {
        let behind = luminance(&linear(ground));
        for colour in colours {
            let before = luminance(&linear(colour));
            let contrast = (behind.max(before) + 0.05) / (behind.min(before) + 0.05);
            assert!(contrast >= 3.0, "{colour} on {ground}: {contrast:.2}");
        }
        for sight in SIGHTS {
            let seen: Vec<Rgb> =
                colours.iter().map(|colour| lab(&sight.map(|row| dot(&row, &linear(colour))))).collect();
            for (at, one) in seen.iter().enumerate() {
                for (other_at, other) in seen.iter().enumerate().take(at) {
                    let distance = one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt();
                    assert!(distance >= 15.0, "{} and {}: {distance:.1}", colours[at], colours[other_at]);
                }
            }
        }
    }

    #[test]
    fn colours_are_distinguishable_from_each_other_and_the_background() {
        check(GROUND.light, &SERIES.map(|colour| colour.light));
        check(GROUND.dark, &SERIES.map(|colour| colour.dark));
    }
}
