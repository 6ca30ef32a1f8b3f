//! `stead explain CODE`: prints the page of an error code, offline.

use stead_model::{CODES, Code, Diagnostic, nearest};

use crate::failure::Failure;
use crate::ui::Ui;

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages! {
    "ST0101" "ST0102" "ST0103" "ST0104" "ST0105" "ST0106" "ST0107" "ST0108" "ST0109" "ST0110" "ST0111" "ST0112"
    "ST0116" "ST0117" "ST0118"
    "ST0201" "ST0202" "ST0203" "ST0204" "ST0205" "ST0206" "ST0207" "ST0208" "ST0209" "ST0210" "ST0211" "ST0212"
    "ST0214" "ST0215" "ST0216" "ST0217" "ST0218" "ST0219" "ST0220" "ST0221" "ST0222"
    "ST0301" "ST0302" "ST0303" "ST0304" "ST0305" "ST0306" "ST0307" "ST0320"
    "ST0401" "ST0402" "ST0403" "ST0404"
    "ST0410" "ST0411" "ST0412" "ST0413" "ST0414" "ST0415" "ST0416" "ST0417" "ST0418" "ST0419" "ST0420"
    "ST0430" "ST0431"
    "ST0501" "ST0502" "ST0503" "ST0510" "ST0511"
    "ST0601" "ST0602" "ST0603" "ST0604" "ST0605" "ST0606" "ST0607" "ST0608" "ST0611" "ST0620"
    "ST0701" "ST0702" "ST0703" "ST0704"
    "ST0801" "ST0802" "ST0803" "ST0804" "ST0805" "ST0806"
    "ST0901" "ST0902" "ST0903" "ST0904" "ST0905"
};

pub(crate) fn explain(code: &str, ui: &Ui) -> Result<u8, Failure> {
    let wanted = code.to_uppercase();
    if let Some((_, page)) = PAGES.iter().find(|(code, _)| *code == wanted) {
        ui.raw(page);
        return Ok(0);
    }
    let problem = Diagnostic::error(Code::USAGE, format!("there is no error code {code:?}"));
    let help = match nearest(&wanted, CODES.iter().map(|code| code.as_str())) {
        Some(meant) => format!("did you mean {meant}?"),
        None => "codes look like ST0104".to_owned(),
    };
    Err(problem.help(help).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_contains_the_page_of_every_code() {
        let pages: Vec<&str> = PAGES.iter().map(|(code, _)| *code).collect();
        let codes: Vec<&str> = CODES.iter().map(|code| code.as_str()).collect();
        assert_eq!(pages, codes);
    }
}
