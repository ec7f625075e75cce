//! Macros that declare an operation by its documentation and its fields.

/// Declares the parameters of an operation. Doc comments become its description on every surface, and
/// `#[schemars(…)]` on a member its limits.
///
/// `project;` stands for `project_id`, `paging;` for `limit` and `cursor`. The type of a member says
/// whether it is needed, and how a command line spells it:
///
/// | member | in JSON | on the command line |
/// |---|---|---|
/// | `name: T` | required | by its place |
/// | `name: Vec<T>` | required | by its place, after all others, as often as there are items |
/// | `name: Option<T>` | may be left out | `--name` |
/// | `name: Option<Vec<T>>` | may be left out | `--name`, once per item; `--name ""` is the empty list |
/// | `name: Patch<T>` | may be left out, `null` clears it | `--name`; the word `null` clears it |
/// | `file name: String` | required | the text itself, `@file`, or `@-` for standard input |
/// | `text name: Option<String>` | may be left out | as `file`, as `--name`; has to be UTF-8 |
/// | `json name: …` | as without `json` | JSON, `@file` that holds it, or `@-` for standard input |
///
/// Words, numbers and texts are parsed by their `FromStr`; an object or a list of objects needs `json`.
macro_rules! operation {
    ($(#[$doc:meta])* $name:ident { $($members:tt)* }) => {
        $crate::declare::operation!(@members [$(#[$doc])* $name] [] $($members)*);
    };

    // Each step takes the first member left and appends it, as Rust, to those done.
    (@members [$(#[$doc:meta])* $name:ident] [$($done:tt)*]) => {
        $(#[$doc])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema, clap::Args)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($done)* }
    };
    (@members $head:tt [$($done:tt)*] project; $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)*
            /// Id of the project.
            #[arg(long = "project", env = "SEARCHWRIGHT_PROJECT", default_value = "", hide_default_value = true)]
            #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
            pub project_id: String,
        ] $($rest)*);
    };
    (@members $head:tt $done:tt paging; $($rest:tt)*) => {
        $crate::declare::operation!(@members $head $done
            /// Records per page, 1 to 100; default 25.
            #[schemars(range(min = 1, max = 100))]
            limit: Option<u8>,
            /// `nextCursor` of the previous page, with the same filters.
            #[schemars(length(max = 512))]
            cursor: Option<String>,
            $($rest)*
        );
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* json $name:ident: Option<$type:ty>, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(long, value_name = "JSON|@FILE", value_parser = $crate::argument::json::<$type>)]
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<$crate::argument::Json<$type>>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* json $name:ident: Patch<$type:ty>, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(long, value_name = "JSON|@FILE", default_value = "", hide_default_value = true)]
            #[arg(value_parser = $crate::argument::patch($crate::argument::json::<$type>))]
            #[serde(default, skip_serializing_if = "crate::Patch::is_absent")]
            pub $name: $crate::Patch<$type>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* json $name:ident: $type:ty, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(value_name = "JSON|@FILE", value_parser = $crate::argument::json::<$type>)]
            pub $name: $crate::argument::Json<$type>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* file $name:ident: String, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(value_name = "@FILE", value_parser = $crate::argument::file)]
            pub $name: String,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* text $name:ident: Option<String>, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(long, value_name = "TEXT|@FILE", value_parser = $crate::argument::text)]
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<String>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* $name:ident: Option<$type:ty>, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(long)]
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<$type>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* $name:ident: Patch<$type:ty>, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(long, default_value = "", hide_default_value = true)]
            #[arg(value_parser = $crate::argument::patch(<$type as std::str::FromStr>::from_str))]
            #[serde(default, skip_serializing_if = "crate::Patch::is_absent")]
            pub $name: $crate::Patch<$type>,
        ] $($rest)*);
    };
    (@members $head:tt [$($done:tt)*] $(#[$meta:meta])* $name:ident: $type:ty, $($rest:tt)*) => {
        $crate::declare::operation!(@members $head [$($done)* $(#[$meta])*
            #[arg(required = true)]
            pub $name: $type,
        ] $($rest)*);
    };
}
pub(crate) use operation;

/// Declares the members of a record once, for creating, reading and changing it:
///
/// a struct of them, and an operation that takes first its own members, then each of these as one that may
/// be left out. Its `apply` writes what was named into a record. Members are as in [`operation!`]:
///
/// | member | when made | when changed |
/// |---|---|---|
/// | `name: Option<T>` | may be left out or `null` | `Patch<T>`: `null` clears it |
/// | `name: Vec<T>` | may be left out | replaced as a whole |
/// | `name: String` | required | replaced |
/// | `name: T` | `T::default()` unless given | replaced |
/// | `name: bool = true` | `true` unless given | replaced |
macro_rules! item {
    (
        $(#[$doc:meta])* $name:ident,
        $(#[$update_doc:meta])* $update:ident { $($own:tt)* }
        { $($members:tt)* }
    ) => {
        $crate::declare::item!(@members [$(#[$doc])* $name $(#[$update_doc])* $update { $($own)* }] [] [] [] $($members)*);
    };

    (@members [$(#[$doc:meta])* $name:ident $(#[$update_doc:meta])* $update:ident { $($own:tt)* }]
        [$($made:tt)*] [$($changed:tt)*] [$(($member:ident $how:ident))*]) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[schemars(extend("x-answered" = true))]
        pub struct $name { $($made)* }

        $crate::declare::operation! {
            $(#[$update_doc])*
            $update { $($own)* $($changed)* }
        }

        impl $update {
            /// Writes the given members into a record.
            pub fn apply(self, record: &mut $name) {
                $($crate::declare::item!(@$how self record $member);)*
            }
        }
    };
    (@set $self:ident $record:ident $member:ident) => {
        if let Some(value) = $self.$member {
            $record.$member = value;
        }
    };
    (@patch $self:ident $record:ident $member:ident) => {
        $record.$member = $self.$member.apply($record.$member.take());
    };

    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* json $member:ident: Option<$type:ty>, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            #[serde(default)]
            #[schemars(extend("x-nullable" = true))]
            pub $member: Option<$type>,
        ] [$($changed)* $(#[$meta])* json $member: Patch<$type>,] [$($how)* ($member patch)] $($rest)*);
    };
    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* $member:ident: Option<$type:ty>, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            #[serde(default)]
            #[schemars(extend("x-nullable" = true))]
            pub $member: Option<$type>,
        ] [$($changed)* $(#[$meta])* $member: Patch<$type>,] [$($how)* ($member patch)] $($rest)*);
    };
    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* json $member:ident: Vec<$type:ty>, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            #[serde(default)]
            pub $member: Vec<$type>,
        ] [$($changed)* $(#[$meta])* json $member: Option<Vec<$type>>,] [$($how)* ($member set)] $($rest)*);
    };
    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* $member:ident: String, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            pub $member: String,
        ] [$($changed)* $(#[$meta])* $member: Option<String>,] [$($how)* ($member set)] $($rest)*);
    };
    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* $member:ident: bool = true, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            #[serde(default = "crate::declare::yes")]
            pub $member: bool,
        ] [$($changed)* $(#[$meta])* $member: Option<bool>,] [$($how)* ($member set)] $($rest)*);
    };
    (@members $head:tt [$($made:tt)*] [$($changed:tt)*] [$($how:tt)*]
        $(#[$meta:meta])* $member:ident: $type:ty, $($rest:tt)*) => {
        $crate::declare::item!(@members $head [$($made)* $(#[$meta])*
            #[serde(default)]
            pub $member: $type,
        ] [$($changed)* $(#[$meta])* $member: Option<$type>,] [$($how)* ($member set)] $($rest)*);
    };
}
pub(crate) use item;

/// Default of members that are `true` unless given.
pub(crate) const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests;
