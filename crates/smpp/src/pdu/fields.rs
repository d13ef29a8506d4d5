//! The macro that states a PDU's fields once. Order and kind give the struct, its reader and its writer,
//! so the three cannot drift apart, and chapter 4 of the specification can be checked line by line.

/// `name: type = verb(arguments)`: the verb names a method of both `Reader` and `Writer`.
macro_rules! fields {
    ($(#[$meta:meta])* $name:ident<'a> {
        $($(#[$field_meta:meta])* $field:ident: $type:ty = $verb:ident($($argument:expr),*),)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name<'a> {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn read(
                reader: &mut $crate::reader::Reader<'a>,
            ) -> Result<Self, $crate::reader::FieldError> {
                Ok($name { $($field: reader.$verb(stringify!($field) $(, $argument)*)?,)* })
            }

            pub(crate) fn write(
                &self,
                writer: &mut $crate::writer::Writer<'_>,
            ) -> Result<(), $crate::EncodeError> {
                $(writer.$verb(stringify!($field), self.$field $(, $argument)*)?;)*
                Ok(())
            }
        }
    };
}

pub(crate) use fields;
